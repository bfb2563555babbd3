// The figures for operators and owners: latency of gates, the dashboard that is shipped, the log of admins.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { figureIn, metricsOf, seriesIn } from './asking.js';
import { Caller, gateOf } from './caller.js';
import { nodeOfFile } from './node-of-file.js';
import { startRunning } from './running.js';

const lines: string[] = [];
const node = await nodeOfFile({
  cycleMs: 3_600_000,
  log: { level: 'info', requests: false, destination: { write: (line) => lines.push(line) } },
});
const owner = node.owner();
await owner.createMachine('quiet', true);
const gate = gateOf('edge', await owner.contractOn('edge', { threshold: 2, within: 60 }));
for (let asked = 0; asked < 5; asked += 1) await owner.get(gate);

it('the latency of gates is a histogram of all decisions, without the name of a machine', async () => {
  const series = seriesIn(await metricsOf(node.url));
  const buckets = [...series].filter(([name]) => name.startsWith('weir_gate_seconds_bucket'));
  const counts = buckets.map(([, count]) => count);
  expect(buckets.map(([name]) => /le="(.+)"/.exec(name)?.[1])).toEqual(
    '0.00005 0.0001 0.00025 0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 +Inf'.split(' '),
  );
  expect([counts, counts.at(-1)]).toEqual([[...counts].sort((a, b) => a - b), 5]);
  expect([series.get('weir_gate_seconds_count'), [...series.keys()].filter((name) => name.includes('edge'))]).toEqual([
    5,
    [],
  ]);
  expect(series.get('weir_gate_seconds_sum')).toBeGreaterThan(0);
});

it('the latency of gates of one machine is for its owner alone, and refused gates leave nothing', async () => {
  const other = node.keyOf('other');
  for (const slug of ['edge', 'no-such-machine']) await node.ask('GET', gate.replace('edge', slug), { key: other });
  const own = await owner.get('/api/chain/edge/metrics');
  const series = seriesIn(own.body);
  const answers = [
    await node.ask('GET', '/api/chain/edge/metrics'),
    await node.ask('GET', '/api/chain/edge/metrics', { key: other }),
    await node.ask('GET', '/api/chain/quiet/metrics', { key: other }),
    await owner.get('/api/chain/quiet/metrics'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 404, 403, 200]);
  expect([...series].filter(([name]) => !name.includes('_bucket') && !name.includes('_sum'))).toEqual([
    ['weir_machine_decisions_total{machine="edge",decision="admitted"}', 2],
    ['weir_machine_decisions_total{machine="edge",decision="limited"}', 3],
    ['weir_machine_contracts{machine="edge"}', 1],
    ['weir_machine_record_rows{machine="edge"}', 3],
    ['weir_machine_gate_seconds_count{machine="edge"}', 5],
  ]);
  expect(figureIn(await metricsOf(node.url), 'weir_gate_seconds_count')).toBe(5);
});

const dashboard = JSON.parse(readFileSync('scenarios/recipes/grafana.json', 'utf8'));
interface Query {
  readonly title: string;
  readonly unit: string;
  readonly expr: string;
}
const queries: Query[] = dashboard.panels.flatMap((panel: any) =>
  panel.targets.map(({ expr }: any) => ({ title: panel.title, unit: panel.fieldConfig.defaults.unit, expr })),
);
const metricsIn = (expr: string): string[] => expr.match(/\bweir_\w+/g) ?? [];

it('the dashboard names no metric, and no label, that a node does not have', async () => {
  const text = await metricsOf(node.url);
  const series = [...seriesIn(text).keys()];
  const unknown = queries.flatMap(({ title, expr }) => {
    const names = metricsIn(expr).filter((name) => !series.some((one) => one.split('{')[0] === name));
    // Those that Prometheus itself sets.
    const known = [
      'job',
      'instance',
      ...series
        .filter((one) => metricsIn(expr).includes(one.split('{')[0]!))
        .flatMap((one) => one.match(/\w+(?==")/g) ?? []),
    ];
    const asked = [...expr.matchAll(/by \(([^)]+)\)|(\w+)=~?"/g)].flatMap(
      ([, list, one]) => list?.split(', ') ?? [one!],
    );
    return [...names, ...asked.filter((label) => !known.includes(label))].map((name) => `${title}: ${name}`);
  });
  expect([queries.length > 20, unknown]).toEqual([true, []]);
});

it('the dashboard shows each metric of a node', async () => {
  const families = [...(await metricsOf(node.url)).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!);
  const shown = queries.flatMap(({ expr }) => metricsIn(expr)).map((name) => name.replace(/_(bucket|count|sum)$/, ''));
  expect(families.filter((name) => !shown.includes(name) && name !== 'weir_cycle')).toEqual([]);
});

it('the dashboard has units that fit its metrics, and rates of counters alone', () => {
  const fits = ({ unit, expr }: Query) => {
    const isRate = expr.includes('rate(');
    const of = metricsIn(expr);
    if (isRate !== of.some((name) => /_(total|bucket|count)$/.test(name)) && unit !== 'none') return false;
    if (expr.startsWith('histogram_quantile') || of.every((name) => name.endsWith('_seconds'))) return unit === 's';
    if (of.every((name) => name.endsWith('_bytes'))) return unit === 'bytes';
    if (expr.includes(' / ')) return unit === 'percentunit';
    return isRate ? ['reqps', 'ops'].includes(unit) : unit === 'none';
  };
  expect(queries.filter((query) => !fits(query))).toEqual([]);
});

it('admin actions are logged at level info, as the rest of what is no warning: at warn there is no line', async () => {
  const said: string[] = [];
  const quiet = await startRunning({
    log: { level: 'warn', requests: false, destination: { write: (line: string) => said.push(line) } },
  });
  const { status } = await quiet.owner().createMachine('quiet');
  expect([status, said]).toEqual([201, []]);
});

it('the log has a line for each admin action, with who and to what, and no secret', async () => {
  lines.length = 0;
  const made = await owner.post('/api/keys', { scopes: ['gate'] });
  const rotated = await owner.post(`/api/keys/${made.body.key_id}/rotate`, { overlap_seconds: 0 });
  await owner.createMachine('logged');
  const contract_id = await owner.deploy('logged', { threshold: 2 });
  await owner.delete(`/api/keys/${rotated.body.key_id}`);
  await owner.get(gate);
  await new Caller(node.url, made.body.key).post('/api/keys', { scopes: ['gate'] });
  const by = node.idOf(owner.key);
  const { key_id } = made.body;
  const next_key_id = rotated.body.key_id;
  const said = lines
    .map((line) => JSON.parse(line))
    .map(({ msg, time, action, owner, name, level, pid, hostname, ...rest }) => [msg, action, rest]);
  expect(said).toEqual(
    [
      ['POST /api/keys', { by, key_id, status: 201 }],
      ['POST /api/keys/{key_id}/rotate', { by, key_id, next_key_id, status: 201 }],
      ['POST /api/chain/state-machines', { by, machine: 'logged', status: 201 }],
      ['POST /api/contracts/templates/rate-limiter/deploy', { by, machine: 'logged', contract_id, status: 201 }],
      ['DELETE /api/keys/{key_id}', { by, key_id: next_key_id, status: 204 }],
    ].map((action) => ['admin action', ...action]),
  );
  expect([made.body.key, rotated.body.key, owner.key].filter((secret) => lines.join('').includes(secret))).toEqual([]);
});
