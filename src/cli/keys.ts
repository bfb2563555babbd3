// `weir keys`: makes, lists, rotates and revokes the keys of an owner. A rotated key that is kept in the user's folder is replaced there.
import { listKeys, makeKey, revokeKey, rotateKey } from '../api/keys.js';
import { type Command, register } from './command.js';
import { usageFailure } from './ending.js';
import { nodeCommand } from './node-command.js';
import { durationIn, noDefault } from './options.js';
import { facts, moreAfter, table } from './terminal.js';

const SCOPES = ['read', 'event', 'gate', 'admin'] as const;

const days = { type: 'number', requiresArg: true, describe: 'days until it expires, 1 to 365' } as const;

const makeCommand = {
  usage: 'make <scopes..>',
  summary: 'make a key for what its scopes name: read, event, gate, admin',
  command: nodeCommand({
    options: (yargs) =>
      yargs
        .positional('scopes', {
          choices: SCOPES,
          array: true,
          demandOption: true,
          ...noDefault,
          describe: 'what the key may do; admin: everything',
        })
        .option('machine', {
          type: 'string',
          requiresArg: true,
          describe: 'the only machine that it opens (default: all of yours)',
        })
        .option('days', { ...days, describe: `${days.describe} (default: 30)` })
        .example(
          '$0 keys make gate --machine edge-gateway',
          'for a gateway that asks `weir gate edge-gateway --contract ID` and does nothing else',
        )
        .example('$0 keys make read --days 1 --json', 'for a program that reads records for a day'),
    run: async ({ api, refuseInsecure }, { scopes, machine, days: expires_in_days }) => {
      refuseInsecure();
      const answer = await api.call(makeKey, { body: { scopes: [...new Set(scopes)], machine, expires_in_days } });
      return { answer, words: madeText(answer) };
    },
  }),
};

const listCommand = {
  usage: 'list',
  summary: 'list your keys, without their secrets',
  command: nodeCommand({
    options: (yargs) =>
      yargs
        .option('after', { type: 'string', requiresArg: true, describe: 'only ids behind this one' })
        .option('limit', { type: 'number', requiresArg: true, describe: 'how many (default: 100)' })
        .example('$0 keys list', 'which there are, and which of them asks'),
    run: async ({ api }, { after, limit }) => {
      const answer = await api.call(listKeys, { query: { after, limit } });
      const rows = answer.keys.map(({ key_id, scopes, machine = 'all', expires_at, revoked, is_own }) => [
        key_id,
        scopes.join(' '),
        machine,
        expires_at,
        revoked ? 'revoked' : is_own ? 'this one' : '',
      ]);
      const { next, record } = answer;
      const log = record === undefined ? [] : [`The record of all actions on them: weir record ${record}`];
      const words = [table(['key', 'scopes', 'machine', 'expires', ''], rows), ...log].join('\n');
      return { answer, words, note: moreAfter(next) };
    },
  }),
};

const rotateCommand = {
  usage: 'rotate [id]',
  summary: 'rotate a key; both stay valid for a while',
  command: nodeCommand({
    options: (yargs) =>
      yargs
        .positional('id', { type: 'string', describe: 'id of the key (default: the one that `weir mint` kept)' })
        .option('overlap', {
          type: 'string',
          requiresArg: true,
          describe: 'how long both are valid, as 1h (default: 24h); 0: the old one ends immediately',
        })
        .option('days', { ...days, describe: `${days.describe} (default: as the old one)` })
        .example('$0 keys rotate', 'a new key in the place of the kept one')
        .example('$0 keys rotate key_Zm9vYmFyYmF6cXV4 --overlap 0', 'the old one may be known to others'),
    run: async ({ api, folder, url, refuseInsecure }, { id, overlap, days: expires_in_days }) => {
      refuseInsecure();
      const kept = folder.key.read();
      const key_id = id ?? kept?.key_id;
      if (key_id === undefined)
        throw usageFailure(`No key of ${url} is kept: say which one, as \`weir keys list\` shows it.`);
      const overlap_seconds = overlap === undefined ? undefined : durationIn('overlap', overlap, 1_000);
      const answer = await api.call(rotateKey, { params: { key_id }, body: { overlap_seconds, expires_in_days } });
      const { key, key_id: next, owner, expires_at, previous } = answer;
      const isKept = kept?.key_id === key_id;
      if (isKept) folder.key.write({ url, key, key_id: next, owner, expires_at });
      const words = [
        madeText(answer),
        facts([
          ['follows', previous.key_id],
          ['which ends', previous.expires_at],
          ['kept in', isKept ? folder.key.path : undefined],
        ]),
      ];
      return { answer, words: words.join('\n') };
    },
  }),
};

const revokeCommand = {
  usage: 'revoke <id>',
  summary: 'revoke a key immediately, with its sessions and streams',
  command: nodeCommand({
    options: (yargs) =>
      yargs
        .positional('id', { type: 'string', demandOption: true, describe: 'id of the key' })
        .example('$0 keys revoke key_Zm9vYmFyYmF6cXV4', 'nothing opens with it any more'),
    run: async ({ api, folder }, { id: key_id }) => {
      await api.call(revokeKey, { params: { key_id } });
      const isKept = folder.key.read()?.key_id === key_id;
      if (isKept) folder.key.remove();
      const note = isKept ? 'it was the key kept for this node, and is not kept any more.' : undefined;
      return { answer: { ok: true, key_id }, words: `The key ${key_id} is revoked.`, note };
    },
  }),
};

export const keysCommand: Command = {
  options: (yargs) =>
    [makeCommand, listCommand, rotateCommand, revokeCommand]
      .reduce((inner, one) => register(inner, one, one.command), yargs)
      .demandCommand(1, 'Say what to do: `weir keys --help` lists it.')
      .example('$0 keys make event --machine edge-gateway', 'a key that counts events on one machine')
      .example('$0 keys list', 'which keys there are'),
  run: () => {},
};

interface Made {
  readonly key: string;
  readonly key_id: string;
  readonly scopes: readonly string[];
  readonly machine?: string;
  readonly expires_at: string;
}

function madeText({ key, key_id, scopes, machine, expires_at }: Made): string {
  return facts([
    ['key', key],
    ['id', key_id],
    ['scopes', scopes.join(' ')],
    ['machine', machine ?? 'all'],
    ['expires', expires_at],
  ]);
}
