// A real node, and requests that nobody should send: none may be answered with a fault of the node's, none may end it, and it may not
// keep anything of them. WEIR_FUZZ=1000000 sends so many; the suite sends 8,000.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Serving, serve, temporaryFolder } from '../cli/command-line.js';
import { forAllAsync } from '../draws.js';
import { figureIn, mb, metricsOf } from './asking.js';
import { Holder, someInTurn } from './caller.js';
import { type Hostile, hostileRequests } from './hostile.js';
import { Raw } from './raw.js';

const REQUESTS = Number(process.env['WEIR_FUZZ'] ?? 8_000);
/** Fewer at a time than verifications of records may wait for their turn. */
const AT_A_TIME = 12;
const BATCH = 50;
/** Nothing comes back of what is not finished: the connection is closed once the node has answered so many others after it. */
const OTHERS = 2;
/** All that may live long in the node, in MB: with 8,000 requests, keeping 12 kB of each would end it. */
const HEAP_MB = 96;

let node: Serving;
let about: Hostile;
const answers = new Map<string, number>();

beforeAll(async () => {
  const data = `${temporaryFolder()}/data`;
  node = await serve(['--data', data, '--cycle-ms', '777'], { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` });
  const owner = await Holder.minted(node.url);
  const { key } = owner;
  const { headers } = await owner.post('/api/session');
  const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
  about = {
    slug: 'fuzz',
    contractId: await owner.contractOn('fuzz'),
    credentials: [
      ...Array(6).fill({ Authorization: `Bearer ${key}` }),
      { Cookie: cookie },
      {},
      { Authorization: 'Bearer weir_x' },
    ],
  };
});

describe(`${REQUESTS} requests that nobody should send`, () => {
  it.each([
    'from the schemas',
    'valid ones with something done to their bytes',
    'of odd targets, headers and bodies',
    'that are noise',
  ])(
    'no request ends the node, or is answered with 5xx other than 503: %s',
    async (kind) => {
      const request = hostileRequests(about)[kind]!;
      const batch = fc.array(request, { minLength: BATCH, maxLength: BATCH });
      const rssBefore = figureIn(await metricsOf(node.url), 'weir_memory_bytes');
      await forAllAsync([batch], { numRuns: Math.ceil(REQUESTS / 4 / BATCH), endOnFailure: true }, async (requests) => {
        const told = await someInTurn(
          requests,
          AT_A_TIME,
          async (bytes) => [bytes.toString('latin1'), await exchange(bytes)] as const,
        );
        // A node that has more to do than it can refuses early, by 503; other causes of 503 are in the metrics below.
        expect(told.filter(([, statuses]) => statuses.some((status) => status >= 500 && status !== 503))).toEqual([]);
      });
      const rss = figureIn(await metricsOf(node.url), 'weir_memory_bytes');
      process.stdout.write(`fuzz, ${kind}: resident ${mb(rssBefore)} MB before, ${mb(rss)} MB after\n`);
    },
    60_000 + REQUESTS * 10,
  );

  it('the node is as well after such requests as before', async () => {
    const metrics = await metricsOf(node.url);
    // What is refused under overload has no route yet, and then /readyz says so.
    // A gate that is asked to deny with it is limited.
    const shed = /path="(?:none|\/readyz|[^"]*\/gate(?:\/\{path\})?)",status="503"/;
    const failed = metrics
      .split('\n')
      .filter((line) => /status="5\d\d"/.test(line) && !line.endsWith(' 0') && !shed.test(line));
    const record: any = await (
      await fetch(`${node.url}/api/chain/fuzz/state/verify`, { headers: about.credentials[0]! })
    ).json();
    process.stdout.write(
      `fuzz: answers ${[...answers]
        .sort()
        .map(([status, n]) => `${status} x ${n}`)
        .join(', ')}\n`,
    );
    expect({ failed, exitCode: node.child.exitCode, ok: record.ok, valid: record.valid }).toEqual({
      failed: [],
      exitCode: null,
      ok: true,
      valid: true,
    });
    // Each kind of answer that there should be: what is sent reaches handlers, validation, access, router and parser.
    expect([...answers.keys()]).toEqual(
      expect.arrayContaining(['200', '201', '400', '401', '404', '405', '409', '431']),
    );
    expect(await node.stop()).toBe(0);
  });
});

/** Sends the bytes on a connection of their own, and gives the statuses of what comes back. */
async function exchange(bytes: Buffer): Promise<number[]> {
  const raw = new Raw(node.url).send(bytes);
  // A node that is gone is found by the others.
  await Promise.race([raw.until(({ text }) => text !== ''), othersAnswered()]);
  raw.socket.end();
  const { statuses } = await raw.ended();
  for (const status of statuses) answers.set(`${status}`, (answers.get(`${status}`) ?? 0) + 1);
  return statuses;
}

async function othersAnswered(): Promise<void> {
  for (let left = OTHERS; left > 0; left -= 1) await (await fetch(`${node.url}/healthz`)).text();
}
