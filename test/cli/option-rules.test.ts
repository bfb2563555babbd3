// An option that has no effect is refused, by every command.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import yargs from 'yargs';
import { type Command, register } from '../../src/cli/command.js';
import { commands, nameOf, nodeCommands } from '../../src/cli/commands.js';
import { temporaryFolder, weirHere } from './command-line.js';

const folder = temporaryFolder();
const log = join(folder, 'a.log');
writeFileSync(log, '10.0.0.1 - - [05/Jan/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "-"\n');
const scenario = 'scenarios/burst.yaml';
const withClients = 'scenarios/herd.yaml';

describe('what has no effect is refused', () => {
  it.each([
    [`replay ${log} --speed 60`, '--speed has no effect without --live.'],
    [`replay ${log} --url http://127.0.0.1:1`, '--url has no effect without --live.'],
    [`replay ${log} --live --allow-remote`, '--allow-remote has no effect without --url.'],
    [`replay ${log} --live --insecure`, '--insecure has no effect without --url.'],
    [`replay ${log} --live --credential x`, '--credential has no effect without --url.'],
    [`replay ${log} --limit foo`, '--limit has no effect without --like.'],
    [`replay ${log} --rate 10r/s`, '--rate has no effect without --like.'],
    [`replay ${log} --params {}`, '--params has no effect without --primitive.'],
    [`replay ${log} --like nginx --rate 1r/s --threshold 5`, '--threshold has no effect with --like.'],
    [`replay ${log} --like nginx --rate 1r/s --within 10s`, '--within has no effect with --like.'],
    [`replay ${log} --policy a --policy b --within 10s`, '--within has no effect with --policy.'],
    [`replay ${log} --compare gcra --live`, '--compare has no effect with --live.'],
    [`replay ${log} --compare gcra --top 5`, '--top has no effect with --compare.'],
    [`replay ${log} --no-report --out x`, '--out has no effect with --no-report.'],
    [`replay ${log} --key client --key-column client`, '--key-column has no effect with --key.'],
    [`recommend ${log} --burst 5`, '--burst has no effect without --like.'],
    [`recommend ${log} --no-report --out x`, '--out has no effect with --no-report.'],
    ['decide --like nginx --rate 1r/s --cycle-ms 5', '--cycle-ms has no effect with --like.'],
    ['decide --rule x.yaml --rate 1r/s', '--rate has no effect without --like.'],
    [`simulate ${scenario} --threads 2`, '--threads has no effect without --replications.'],
    [`simulate ${scenario} --workers redis://127.0.0.1`, '--workers has no effect without --replications.'],
    [`simulate ${scenario} --replications 2 --until 5`, '--until has no effect with --replications.'],
    [`simulate ${scenario} --no-report --out x`, '--out has no effect with --no-report.'],
    [`sweep ${scenario} --set seed=1,2 --sampling random`, '--sampling has no effect without --samples.'],
    [`sweep ${scenario} --over seed=1..2`, '--over has no effect without --find.'],
    [`sweep ${scenario} --set seed=1,2 --plan --threads 2`, '--threads has no effect with --plan.'],
    [`sweep ${scenario} --find x --over y --figure limited`, '--figure has no effect with --find.'],
    [`sweep ${scenario} --find x --over y --out z`, '--out has no effect with --find.'],
    [`map ${scenario} --across a=1 --up b=1 --no-report --out x`, '--out has no effect with --no-report.'],
    [`load ${scenario} --credential x --no-report`, '--credential has no effect'],
    [`load ${scenario} --allow-remote --no-report`, '--allow-remote has no effect'],
    [`load ${scenario} --insecure --no-report`, '--insecure has no effect'],
    [`load ${withClients} --pacing spaced --no-report`, '--pacing has no effect'],
    ['stress --credential x', '--credential has no effect without --url.'],
    ['stress --allow-remote', '--allow-remote has no effect without --url.'],
    ['identify http://127.0.0.1:1 --client x', '--client has no effect without --from.'],
    [`identify --from ${log} --budget 20`, '--budget has no effect with --from.'],
    ['report --port 20000', '--port has no effect without --serve.'],
    ['report a --fail-on-worse', '--fail-on-worse has no effect without --baseline.'],
    ['report a --floor 1', '--floor has no effect without --baseline.'],
    ['report --serve --format csv', '--format has no effect with --serve.'],
    ['report a --out x --format csv', '--format has no effect with --out.'],
    ['play --out x --port 20000', '--port has no effect with --out.'],
    ['play a.yaml --out x', '<scenario> has no effect with --out.'],
    ['init --list --from burst', '--from has no effect with --list.'],
    ['init x.yaml --schema', '<file> has no effect with --schema.'],
    ['limiters --theme dark', '--theme has no effect without --chart.'],
    ['limiters --chart x.png --json', '--json has no effect with --chart.'],
    ['serve --memory --data x', '--data has no effect with --memory.'],
    ['serve --memory --durability strict', '--durability has no effect with --memory.'],
    ['serve --store redis://127.0.0.1 --memory', '--memory has no effect with --store.'],
    ['serve --grpc 0', '--grpc has no effect without --grpc-limits.'],
    ['serve --log-requests --log-level warn', '--log-requests has no effect without --log-level info.'],
    ['verify x --pin y --url http://127.0.0.1:1', '--url has no effect with --pin.'],
    ['verify x --pin y --allow-unpinned', '--allow-unpinned has no effect with --pin.'],
    ['inspect --xstate --json', '--json has no effect with --xstate.'],
    ['record edge --json', '--json has no effect without --out.'],
    ['deploy edge --overflow share', '--overflow has no effect without --keyed.'],
    ['deploy edge --hash-keys', '--hash-keys has no effect without --keyed.'],
    ['deploy edge --definition x --shadow', '--shadow has no effect with --definition.'],
    ['deploy edge --like nginx --rate 1r/s --near-limit 0.5', '--near-limit has no effect with --like.'],
    ['deploy edge --rate 1r/s', '--rate has no effect without --like.'],
    ['clock --credential x', 'Unknown argument: credential'],
    ['gate edge --key a --credential b', '--key has no effect with --credential.'],
  ])('weir %s', async (line, told) => {
    const { code, out, err } = await weirHere(line.split(' '));
    // With --json a refusal is JSON, on standard output.
    expect([code, out + err]).toEqual([2, expect.stringContaining(told)]);
  });

  it('but a default is not given', async () => {
    const { code } = await weirHere(['replay', log, '--like', 'nginx', '--rate', '1r/s', '--no-report', '--json']);
    expect(code).toBe(0);
  });
});

const all = [...commands, ...nodeCommands];

it.each(all.map((one) => [nameOf(one), one] as const))(
  'the help of weir %s names every option that is described',
  async (_, listed) => {
    const built = (await listed.load()).options(yargs([])) as any;
    const hidden = new Set<string>(built.getOptions().hiddenOptions);
    const described = Object.entries<string | undefined>(
      built.getInternalMethods().getUsageInstance().getDescriptions(),
    );
    const missing = described.filter(([name, text]) => hidden.has(name) && text !== undefined && text !== '');
    expect(missing.map(([name]) => name)).toEqual([]);
  },
);

describe.each(all.map((one) => [nameOf(one), one] as const))('the rules of weir %s', (_, listed) => {
  it('name options that it has, and each refuses', async () => {
    const { options, rules: { needs = {}, without = {} } = {} } = await listed.load();
    const ran: object[] = [];
    const built = options(yargs([]));
    const known = (built as any).getOptions() as {
      key: object;
      boolean: string[];
      number: string[];
      choices: Record<string, string[]>;
    };
    const demanded = Object.keys((built as any).getDemandedOptions()).filter((name) => !listed.usage.includes(name));
    const words = listed.usage.split(' ').slice(1);
    const required = words.filter((word) => word.startsWith('<')).map((_word, at) => `p${at}`);
    const argumentsFor = (name: string): string[] => {
      if (name.startsWith('<')) return required.length === 0 ? ['p'] : [];
      if (name.startsWith('no-') || known.boolean.includes(name)) return [`--${name}`];
      const value = known.choices[name]?.at(-1) ?? (known.number.includes(name) ? '7' : 'x');
      return [`--${name}`, value];
    };
    const closed = (name: string, above: readonly string[] = []): string[] => {
      const [next] = needs[name] ?? [];
      return [name, ...(next === undefined || above.includes(next) ? [] : closed(next, [...above, name]))];
    };
    const refusalOf = async (names: readonly string[]): Promise<string> => {
      const args = [nameOf(listed), ...required, ...[...new Set([...demanded, ...names])].flatMap(argumentsFor)];
      const command: Command = { options, rules: { needs, without }, run: (given) => void ran.push(given) };
      const parser = yargs(args).exitProcess(false).fail(false);
      try {
        await register(parser, listed, command).parseAsync();
        return 'not refused';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const names = [...Object.entries(needs), ...Object.entries(without)].flatMap(([name, others]) => [name, ...others]);
    const optionNames = names.filter((name) => !name.startsWith('<')).map((name) => name.replace(/^no-/, ''));
    expect(optionNames.filter((name) => !Object.hasOwn(known.key, name))).toEqual([]);
    for (const name of Object.keys(needs)) expect(await refusalOf([name])).toMatch(/ has no effect without /);
    for (const [name, others] of Object.entries(without))
      for (const other of others)
        expect(await refusalOf([...closed(name), ...closed(other)]), `${name} ${other}`).toMatch(/ has no effect with/);
    expect(ran).toEqual([]);
  });
});
