// An option that has no effect is refused: what each command says. The table over all commands is in commands.test.ts.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { refuses, temporaryFolder, weirHere } from './command-line.js';

const folder = temporaryFolder();
const log = join(folder, 'a.log');
writeFileSync(log, '10.0.0.1 - - [05/Jan/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 12 "-" "-"\n');
const scenario = 'scenarios/burst.yaml';

refuses(
  [],
  [
    [`replay ${log} --speed 60`, '--speed has no effect without --live.'],
    [`replay ${log} --url http://127.0.0.1:1`, 'Unknown option: --url.'],
    [`replay ${log} --limit 5/s --threshold 5`, '--threshold has no effect with --limit.'],
    [`replay ${log} --limit 5/s --within 10s`, '--within has no effect with --limit.'],
    [`replay ${log} --limit 5/s --compare gcra`, '--compare has no effect with --limit.'],
    [`replay ${log} --limit 5/s --limit 6/s --refused x`, '--refused has no effect with several --limit.'],
    [`recommend ${log} --limit nginx`, '--limit takes a rule with a range, not "nginx".'],
    [`replay ${log} --compare gcra --live`, '--compare has no effect with --live.'],
    [`replay ${log} --compare gcra --top 5`, '--top has no effect with --compare.'],
    ['limiter kong --out x.png', '--out has no effect with <limit>.'],
    [`replay ${log} --limit 5/s --explain --cycle-ms 5`, '--cycle-ms has no effect with --explain.'],
    ['limiter nginx 1r/s - --json', '--json has no effect with -.'],
    ['limiter --cycle-ms 5', '--cycle-ms has no effect without a limiter.'],
    ['limiter nginx 1r/s --cycle-ms 5', '--cycle-ms has no effect'],
    [`simulate ${scenario} --log - --out x`, '--out has no effect with --log -.'],
    [`replay ${log} --from 2026-01-02 --to 1767225600000`, '--to is not after --from: no request lies between.'],
    [`simulate ${scenario} --workers 2`, '--workers has no effect without --replications.'],
    [`simulate ${scenario} --workers redis://127.0.0.1`, '--workers has no effect without --replications.'],
    [`simulate ${scenario} --replications 2 --for 5`, '--for has no effect with --replications.'],
    [`sweep ${scenario} --find x`, '--find has no effect without --set.'],
    [`sweep ${scenario} --find x --set y --out z`, '--out has no effect with --find.'],
    [`load ${scenario} --allow remote --out none`, '--allow has no effect'],
    [`load ${scenario} --allow plain-http --out none`, '--allow has no effect'],
    ['stress --allow remote', '--allow has no effect without --url.'],
    ['identify --client --from access.log', '--from has no effect with --client.'],
    ['identify http://127.0.0.1:1 -- curl {url}', '<program> has no effect without --client.'],
    ['identify --client --budget 20', '--budget has no effect with --client.'],
    [`identify --from ${log} --budget 20`, '--budget has no effect with --from.'],
    ['report', '<file> is missing.'],
    ['report a --out x --json', '--json has no effect with --out.'],
    ['play --out x --port 20000', '--port has no effect with --out.'],
    ['play a.yaml --out x', '<scenario> has no effect with --out.'],
    ['limiter --out x.jpg', '--out takes a name that ends with .png, not "x.jpg".'],
    ['report a --out x.pdf', '--out takes a folder, or a name that ends with .txt, '],
    [`simulate ${scenario} --out x.html`, '--out takes a folder, not "x.html".'],
    ['limiter --out x.png --json', '--json has no effect with --out.'],
    ['serve --store memory --data x', '--data has no effect with a store in memory.'],
    ['serve --store memory --durability strict', '--durability has no effect with --store.'],
    ['serve --store memory --allow lost-rows', '--allow has no effect with a store in memory.'],
    ['serve --store redis://127.0.0.1 --keep rows=9', '--keep rows has no effect with a store in Redis.'],
    ['serve --grpc 0', '--grpc has no effect without --limit.'],
    ['serve --store redis://127.0.0.1 --grpc 0 --limit x', '--grpc has no effect with a store in Redis.'],
    ['verify x --pin y --url http://127.0.0.1:1', '--url has no effect with --pin.'],
    ['node inspect --client open --json', '--client has no effect with --json.'],
    ['node inspect own.json --client open', '--client has no effect with <name>.'],
    ['node inspect --as xstate --json', '--as has no effect with --json.'],
    ['node record edge --json', '--json has no effect without --out.'],
    ['node change edge --limit nginx --threshold 5', '--threshold has no effect with --limit.'],
  ],
);

it('an option that has its default was not given, and is not refused', async () => {
  const { code } = await weirHere(['replay', log, '--limit', 'nginx 1r/s', '--out', 'none', '--json']);
  expect(code).toBe(0);
});
