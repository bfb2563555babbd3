// `npm run bench`: every figure beside what it is measured against, in one run. `--smoke` is short and says only that it works;
// names pick benches: `npm run bench -- agenda fleet`.
import { benchAgenda } from './agenda.js';
import { benchClients } from './clients.js';
import { benchDecide } from './decide.js';
import { benchFleet, benchGcraFleet, benchMovingFleet, DAY } from './fleet.js';
import { benchKeys } from './keys.js';
import { benchMachine } from './machine.js';
import type { BenchRow } from './measure.js';
import { benchMemory } from './memory.js';
import { benchMiddleware } from './middleware.js';
import { benchNetwork } from './network.js';
import { benchNode } from './node.js';
import { benchRedis } from './redis.js';
import { benchReplay } from './replay.js';
import { benchRules } from './rules.js';
import { benchSender } from './sender.js';
import { benchSizing } from './sizing.js';
import { benchStart } from './start.js';
import { benchWorkers } from './workers.js';

const words = process.argv.slice(2);
const isSmoke = words.includes('--smoke');
const benches: Record<string, () => Promise<BenchRow[]>> = {
  decide: () => (isSmoke ? benchDecide(1, 40_000) : benchDecide()),
  keys: () => benchKeys(),
  rules: async () => [...(await benchRules()), ...(await benchGcraFleet())],
  agenda: () => benchAgenda(),
  clients: () => benchClients(),
  fleet: async () => (isSmoke ? benchFleet(1, 5_000) : [...(await benchFleet(3, DAY)), ...(await benchMovingFleet())]),
  replay: () => benchReplay(),
  sizing: () => benchSizing(),
  sender: () => benchSender(),
  node: () => benchNode(),
  middleware: () => benchMiddleware(),
  redis: () => benchRedis(),
  network: () => benchNetwork(),
  workers: () => benchWorkers(),
  memory: () => benchMemory(),
  start: () => benchStart(),
};
const chosen = words.filter((word) => !word.startsWith('-'));
for (const name of chosen)
  if (!(name in benches)) throw new Error(`no bench "${name}"; there are ${Object.keys(benches).join(', ')}`);

console.log(`${benchMachine()}\n`);
const rows: BenchRow[] = [];
for (const [name, bench] of Object.entries(benches)) {
  if (chosen.length > 0 ? !chosen.includes(name) : isSmoke && name !== 'decide' && name !== 'fleet') continue;
  process.stderr.write(`${name} ...\n`);
  rows.push(...(await bench()));
}
const cells = rows.map(({ what, value, unit, against }) => [
  what,
  `${figure(value)} ${unit}`,
  ...(against === undefined
    ? ['', '', '', '']
    : [
        against.name,
        figure(against.value),
        `${against.ratio.toPrecision(3)} x`,
        against.target === undefined ? '' : `wanted ${Number(against.target.toPrecision(3))} x`,
      ]),
]);
const titles = ['what', 'measured', 'against', 'measured', 'ratio', ''];
const widths = titles.map((title, column) => Math.max(title.length, ...cells.map((row) => row[column]!.length)));
for (const row of [titles, ...cells])
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );

function figure(value: number): string {
  if (value >= 1e6) return `${(value / 1e6).toPrecision(3)} M`;
  return value >= 1e3 ? `${(value / 1e3).toPrecision(3)} k` : value.toPrecision(3);
}
