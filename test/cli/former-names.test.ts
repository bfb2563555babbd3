// Names of 0.2 that are gone are refused with what to use instead.
import { expect, it } from 'vitest';
import { readArguments } from '../../src/cli/arguments.js';
import { optionName } from '../../src/cli/command.js';
import { commands } from '../../src/cli/commands.js';
import { formerOption } from '../../src/cli/former-names.js';
import { refuses } from './command-line.js';

refuses(
  [],
  [
    ['up --nodes 3', 'There is no command "up" any more.', 'weir serve --store', 'docker compose up'],
    ['node gate edge --key a', 'Unknown option: --key.', 'WEIR_KEY'],
    ['gate edge', '`weir node gate`'],
    ['backup x', '`weir node backup`'],
    ['map a.yaml', 'weir sweep --map'],
    ['generate a.yaml', 'weir simulate --log'],
    ['explain nginx', 'weir limiter nginx 10r/s burst=5'],
    ['limiters', '`weir limiter` without an argument'],
    ['decide --like nginx', 'weir limiter nginx 10r/s -'],
    ['replay a.log --like nginx --rate 10r/s', 'Unknown option: --like.', "--limit 'nginx 10r/s burst=5'"],
    ['replay a.log --rule a.yaml', '--limit with a file'],
    ['replay a.log --primitive gcra --params {}', "--limit 'gcra 10/s burst=20'"],
    ['replay a.log --params {}', 'words of --limit'],
    ['replay a.log --paste x', '--limit nginx.conf'],
    ['recommend a.log --location x', "--limit 'nginx.conf at location /api'"],
    ['replay a.log --policy a --policy b', '--limit old.yaml --limit new.yaml'],
    ['node deploy edge --definition a.json', '--limit contract.json'],
    ['load scenarios/burst.yaml --key a', 'WEIR_KEY'],
    ['verify a.ndjson --key a', 'It is --pin'],
    ['simulate scenarios/burst.yaml --trace a.ndjson', 'Unknown option: --trace.', 'It is --inspect'],
    ['replay a.log --key-column client', 'It is --key'],
    ['recommend a.log --key-column client', 'It is --key'],
    ['node inspect --xstate', '--as xstate'],
    ['node deploy edge --near-limit 0.8', '--set near_limit=0.8'],
    ['sweep a.yaml --find x --over y', 'the first --set'],
    ['load a.yaml --allow-remote', '--allow remote'],
    ['simulate a.yaml --until 5', 'It is --for'],
    ['identify http://a --resolution 0.1', 'Leave it out'],
    ['sweep a.yaml --resolution 1', 'the step of the range'],
  ],
);

it.each(['seconds', 'strict', 'no-report', 'threads', 'sampling'])(
  '--%s is gone from every command',
  async (option) => {
    for (const { name, load } of commands) {
      const { options } = await load();
      expect(Object.keys(options).map(optionName)).not.toContain(option);
      expect(() => readArguments(name, options, [`--${option}`])).toThrow(
        expect.objectContaining({ fix: formerOption(name, option) }),
      );
    }
  },
);
