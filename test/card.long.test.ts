// The parts that the order named do what it says: each is replaced in a build of its own, and what they carry changes.
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { lastValueFrom, type Observable, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import type { AuditRow } from '../src/core/record/row.js';
import type { CycleRow } from '../src/harness/outcome/cycle-row.js';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, 'build/card');
const entry = `
  export { modelOf } from './src/harness/live/model.js';
  export { loadScenario } from './src/harness/scenario/load-scenario.js';
  export { simulate, simulate$ } from './src/harness/simulate/simulate.js';
  export { VirtualClock } from './src/core/time/virtual.js';
  export { replay$ } from './src/harness/simulate/stream.js';
  export { rateLimiter } from './src/core/limiter/rate-limiter.js';
  export { planContract } from './src/core/limiter/validate.js';
  export { Host } from './src/node/host/host.js';
  export { MemoryStore } from './src/node/store/memory.js';
`;

/** The sources with one text replaced, which has to be there. */
async function built(name: string, mutation?: Readonly<Record<'file' | 'from' | 'to', string>>) {
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, `${name}.mjs`);
  await build({
    stdin: { contents: entry, resolveDir: root, loader: 'ts' },
    ...{ bundle: true, format: 'esm', platform: 'node', packages: 'external', outfile, logLevel: 'silent' },
    plugins: [
      {
        name: 'mutation',
        setup({ onLoad }) {
          if (mutation === undefined) return;
          onLoad({ filter: new RegExp(`/src/${mutation.file}$`) }, ({ path }) => {
            const source = readFileSync(path, 'utf8');
            expect(source.split(mutation.from)).toHaveLength(2);
            return { contents: source.replace(mutation.from, mutation.to), loader: 'ts' };
          });
        },
      },
    ],
  });
  return await import(pathToFileURL(outfile).href);
}

/** What burst.yaml gives in virtual time, and its burst in a replay, in the model of a load, and on a node. */
async function seenOf(weir: Awaited<ReturnType<typeof built>>) {
  const scenario = await weir.loadScenario(join(root, 'scenarios/burst.yaml'));
  const { outcome } = await weir.simulate(scenario);
  const simulated = eventsOf(await rowsOf(weir.simulate$(scenario)));
  const plan = weir.planContract(weir.rateLimiter());
  const arrived = Array.from({ length: 120 }, () => ({ cycle: 0, contract: 0 }));
  const model = await weir.modelOf(arrived, { names: ['all'], plan, cycleMs: 777, firstCycle: 0, lastCycle: 70 });
  const { admitted, state, published } = seenOnNode(weir);
  const rows = await rowsOf(weir.replay$([{ at: 0, n: 120 }], weir.rateLimiter()));
  const replayed = rows.flatMap(({ cycle, transitions }) => transitions.map(({ to }) => `${to} ${cycle}`));
  const modelled = model.events[0].map(({ event }: { event: string }) => event);
  return {
    ...{ digest: outcome.digest as string, replayed, model: model.transitions, node: [admitted, state] },
    events: { simulated, replayed: eventsOf(rows), modelled, published },
  };
}

async function rowsOf(run: Observable<CycleRow>): Promise<CycleRow[]> {
  return lastValueFrom(run.pipe(toArray()), { defaultValue: [] });
}

function eventsOf(rows: readonly CycleRow[]): string[] {
  return rows.flatMap(({ transitions }) => transitions.flatMap(({ emitted }) => emitted));
}

/** A contract of a node, then a key of another one. */
function seenOnNode(weir: Awaited<ReturnType<typeof built>>) {
  const host = new weir.Host({ clock: new weir.VirtualClock(0, 777), store: new weir.MemoryStore() });
  const published: string[] = [];
  host.durableRows.subscribe((row: AuditRow) => published.push(...row.emitted));
  for (const slug of ['m', 'k']) host.createMachine({ slug });
  const contract = host.createContract('m', weir.rateLimiter());
  const admitted = [contract.decide(120, 0), contract.decide(1, 59), contract.decide(1, 60)];
  const byKey = { maxKeys: 9, idleCycles: 9, overflow: 'refuse' };
  host.createContract('k', weir.rateLimiter(), undefined, byKey).decide(120, 0, 0, 'ann');
  return { admitted, state: contract.state, published };
}

const plain = await seenOf(await built('plain'));

it('a simulation, a replay, the model of a load and a node limit and restore without a mutation', () => {
  expect([plain.replayed, plain.model[0].length, plain.node]).toEqual([
    ['limiting 0', 'allowing 60'],
    2,
    [[100, 0, 1], 'allowing'],
  ]);
  const both = ['rate_limited', 'rate_restored'];
  expect(plain.events).toEqual({ simulated: both, replayed: both, modelled: both, published: [...both, both[0]] });
});

it('a machine of XState whose guard is inverted changes a simulation, a replay, the model of a load and a node', async () => {
  const from = 'inRanges(params, event)';
  const inverted = await built('guard', { file: 'core/limiter/contract-machine.ts', from, to: `!${from}` });
  const seen = await seenOf(inverted);
  expect([seen.digest === plain.digest, seen.replayed, seen.model[0].length, seen.node]).toEqual([
    false,
    [],
    0,
    [[120, 1, 1], 'allowing'],
  ]);
});

it('a window of one cycle more changes a simulation, a replay, the model of a load and a node', async () => {
  const from = "within: 'within' in params ? params.within : 1";
  const longer = await built('window', {
    file: 'core/limiter/compile.ts',
    from,
    to: "within: ('within' in params ? params.within : 1) + 1",
  });
  const { digest, replayed, model, node } = await seenOf(longer);
  expect(digest).not.toBe(plain.digest);
  expect(replayed).toEqual(['limiting 0', 'allowing 61']);
  expect([model[0][1].cycle, node]).toEqual([plain.model[0][1].cycle + 1, [[100, 0, 0], 'limiting']]);
});

it('what a machine of XState emits is what a simulation, a replay, the model of a load and a node publish', async () => {
  const from = '{ event: type, aggregate }: Emit) => ({\n      type,';
  const to = "{ event: type, aggregate }: Emit) => ({\n      type: type + '_by_xstate',";
  const renamed = await built('emit', { file: 'core/limiter/contract-machine.ts', from, to });
  const { events } = await seenOf(renamed);
  const both = ['rate_limited_by_xstate', 'rate_restored_by_xstate'];
  expect(events).toEqual({ simulated: both, replayed: both, modelled: both, published: [...both, both[0]] });
});

it('a plain run starts an actor of XState for each contract that moves, and for each client', async () => {
  const counted = (actors: string) => `(((globalThis as any).${actors} ??= []).push(0), createActor`;
  const contracts = await built('contracts', {
    ...{
      file: 'core/limiter/contract-actor.ts',
      from: 'createActor(machine',
      to: `${counted('contracts')})(machine`,
    },
  });
  const scenario = await contracts.loadScenario(join(root, 'scenarios/burst.yaml'));
  const { outcome } = await contracts.simulate(scenario);
  expect(outcome.by_contract.map(({ entries }: { entries: number }) => entries)).toEqual([1]);
  expect((globalThis as { contracts?: unknown[] }).contracts).toHaveLength(1);
  const clients = await built('clients', {
    ...{ file: 'harness/clients/client.ts', from: 'createActor(logic', to: `${counted('clients')})(logic` },
  });
  const run = await clients.simulate(await clients.loadScenario(join(root, 'scenarios/backpressure.yaml')));
  // The scenario has a control, which runs first.
  expect((globalThis as { clients?: unknown[] }).clients).toHaveLength(2 * run.outcome.clients[0].clients);
});

it('RxJS drives the cycles: without a tick a simulation, a replay and the model of a load decide nothing', async () => {
  const from = 'subscriber.next({ cycle, missed });';
  const silent = await built('ticks', { file: 'core/time/cycles.ts', from, to: '' });
  const scenario = await silent.loadScenario(join(root, 'scenarios/burst.yaml'));
  const rows = await rowsOf(silent.simulate$(scenario));
  expect(rows.filter(({ totals }) => totals.requests > 0)).toEqual([]);
  const { replayed, model } = await seenOf(silent);
  expect([replayed, model]).toEqual([[], [[]]]);
});

it('the parts are there: installed with the package or bundled, and imported by sources', () => {
  const { dependencies, devDependencies, scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['autocannon', 'rxjs', 'xstate']));
  expect(Object.keys(devDependencies)).toEqual(expect.arrayContaining(['chartjs-node-canvas', 'vitest', 'yargs']));
  expect(scripts.test).toContain('vitest run');
  const imports = ['cli/parser.ts', 'report/chart/canvas.ts'].map((path) =>
    readFileSync(join(root, 'src', path), 'utf8'),
  );
  expect(imports[0]).toContain("from 'yargs'");
  expect(imports[1]).toContain('chartjs-node-canvas');
});
