import { expect, it } from 'vitest';
import { products } from '../../../src/core/limiter/products/products.js';
import { clientLibraries } from '../../../src/harness/clients/libraries.js';
import { valueName } from '../../../src/harness/scenario/grid.js';
import { everyOf, isMatrix, matrixAxes, matrixFigures, matrixScenario } from '../../../src/tools/sweep/matrix.js';
import { planSweep } from '../../../src/tools/sweep/plan-sweep.js';
import { runSweep, type SweepRow } from '../../../src/tools/sweep/sweep.js';
import { matrixBlocks } from '../../../src/tools/sweep/sweep-document.js';

const few = ['limiter=none,gcra 10/s burst=10', 'clients=[[{like: got}],[{like: undici}]]'];

async function rowsOf(set: readonly string[]) {
  const axes = matrixAxes(set);
  const plan = await planSweep(matrixScenario, { set: axes });
  const rows: SweepRow[] = [];
  for await (const row of runSweep(plan)) rows.push(row);
  return { axes, rows };
}

it('the matrix has every product and every library', () => {
  const [triggers, limiters, clients] = matrixAxes([]);
  expect(triggers!.values).toEqual(['burst', 'outage']);
  expect(limiters!.names).toEqual(expect.arrayContaining(Object.keys(products)));
  expect(clients!.names).toEqual(Object.keys(clientLibraries));
  expect(valueName(clients!, { clients: clients!.values![3]! })).toBe(Object.keys(clientLibraries)[3]);
});

it('a matrix of a scenario of the user is what its axes say', () => {
  const axes = everyOf(['seed=1,2', 'limiter=every', 'clients=every']);
  expect([isMatrix(axes), isMatrix(axes.slice(0, 2)), axes.map(({ path }) => path)]).toEqual([
    true,
    false,
    ['seed', 'limiter', 'clients'],
  ]);
  expect(axes[1]!.names).toEqual(matrixAxes([])[1]!.names);
});

it('a burst is served at once without a limiter; at ten a second undici needs longer and sends more than got', async () => {
  const { rows } = await rowsOf(few);
  const burst = rows.filter(({ set }) => set['question'] === 'burst');
  const [free, freeToo, got, undici] = burst.map(({ figures }) => matrixFigures.map((name) => figures[name]!.mean));
  expect(free).toEqual(freeToo);
  expect(free!.slice(1)).toEqual([1, 0, 0]);
  expect(undici![1]).toBeGreaterThan(got![1]!);
  expect(undici![2]).toBeGreaterThan(got![2]!);
  const outage = rows.filter(({ set }) => set['question'] === 'outage').map(({ figures }) => figures);
  // Ten of sixty seconds bring nothing but what is tried again afterwards.
  for (const { 'clients.goodput_per_second': goodput } of outage) expect(goodput!.mean).toBeLessThan(free![0]!);
});

it('the matrix says the median and the ends for each limiter and for each library', async () => {
  const { axes, rows } = await rowsOf(few);
  const tables = matrixBlocks(axes, rows, matrixFigures);
  expect(tables.map(({ title }) => title)).toEqual([
    'burst, by limiter: median over clients [least, most]',
    'burst, by clients: median over limiters [least, most]',
    'outage, by limiter: median over clients [least, most]',
    'outage, by clients: median over limiters [least, most]',
  ]);
});
