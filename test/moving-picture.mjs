// Prints the moving picture of README.md, reports/example/storm.svg, drawn from two runs: the same ten seconds of overload, without a limit and with one.
//
//   requests per cycle |▁▂█▂▁      | refused ones are lighter; the line is the queue of the service, revealed as time goes by
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const [WIDTH, LANE, LEFT, TOP] = [860, 118, 16, 44];

const lanes = [
  runOf('retry-storm', 'No limit; clients try again at once'),
  runOf('retry-storm-cured', 'A limit, and clients that pace and budget their retries'),
];
const most = (of) => Math.max(...lanes.flatMap(of));
const scales = {
  requests: most(({ cycles }) => cycles.map(({ requests }) => requests)),
  queue: most(({ queue }) => queue),
};
process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${TOP + lanes.length * LANE + 22}" role="img"
  aria-label="Ten seconds of overload: without a limit the queue grows to ${lanes[0].last}, with one it ends at ${lanes[1].last}">
<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f } .small { font-size: 11px; fill: #57606a }
  .request { fill: #afb8c1 } .refused { fill: #f2b179 } .storm { stroke: #cf222e } .cured { stroke: #1a7f37 }
  .queue { fill: none; stroke-width: 2 } .overload { fill: #8882 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #8d96a0 } .request { fill: #4b535d } }
  @media (prefers-reduced-motion: no-preference) {
    .moving { animation: reveal 9s linear infinite }
    .end { animation: end 9s linear infinite }
  }
  @keyframes reveal { from { clip-path: inset(0 100% 0 0) } 75%, to { clip-path: inset(0 0 0 0) } }
  @keyframes end { from, 74% { opacity: 0 } 77%, to { opacity: 1 } }
</style>
<text x="${LEFT}" y="18" font-weight="600">The same service, the same ten seconds of overload</text>
<text x="${LEFT}" y="34" class="small">bars: requests per cycle, refused ones in orange; line: requests that wait in the service</text>
${lanes.map((lane, index) => laneOf(lane, index, TOP + index * LANE, scales)).join('\n')}
<text x="${LEFT}" y="${TOP + lanes.length * LANE + 16}" class="small">0 s</text>
<text x="${WIDTH - LEFT}" y="${TOP + lanes.length * LANE + 16}" class="small" text-anchor="end">100 s</text>
</svg>
`);

function runOf(name, title) {
  const out = mkdtempSync(join(tmpdir(), 'weir picture '));
  const words = ['simulate', join(root, `scenarios/${name}.yaml`), '--out', out];
  execFileSync(process.execPath, [join(root, 'dist/cli/main.js'), ...words], { stdio: 'ignore' });
  const { queue } = JSON.parse(readFileSync(join(out, 'series.json'), 'utf8'));
  const [, ...rows] = readFileSync(join(out, 'timeline.csv'), 'utf8').trim().split('\n');
  rmSync(out, { recursive: true });
  const cycles = rows
    .map((row) => row.split(','))
    .map(([, , requests, , limited]) => ({ requests: Number(requests), limited: Number(limited) }));
  return { name, title, queue, cycles, last: queue.at(-1) };
}

function laneOf({ title, queue, cycles, last }, index, top, scales) {
  const step = (WIDTH - 2 * LEFT) / cycles.length;
  const floor = top + LANE - 8;
  const height = LANE - 32;
  const xOf = (cycle) => (LEFT + cycle * step).toFixed(1);
  const bar = (n, cycle) => {
    const tall = ((n / scales.requests) * height).toFixed(1);
    return n > 0 ? `M${xOf(cycle)} ${floor}v-${tall}h${(step - 1).toFixed(1)}v${tall}z` : '';
  };
  const bars = (kind, of) => `<path class="${kind}" d="${cycles.map((row, at) => bar(of(row), at)).join('')}"/>`;
  const line = queue.map((n, at) => `${xOf(at + 0.5)} ${(floor - (n / scales.queue) * height).toFixed(1)}`).join('L');
  const [from, to] = [20, 30].map((second) => LEFT + (second / 100.2) * (WIDTH - 2 * LEFT));
  return `<text x="${LEFT}" y="${top + 16}">${title}</text>
<rect class="overload" x="${from.toFixed(1)}" y="${top + 24}" width="${(to - from).toFixed(1)}" height="${height}"/>
<g class="moving">${bars('request', ({ requests }) => requests)}${bars('refused', ({ limited }) => limited)}
<path class="queue ${index === 0 ? 'storm' : 'cured'}" d="M${line}"/></g>
<text class="end" x="${WIDTH - LEFT}" y="${top + 16}" text-anchor="end">queue at the end: ${last.toLocaleString('en')}</text>`;
}
