// A million keys of one contract, beside rate-limiter-flexible and a bare ring behind a Map, each in a process of its own: memory of a key,
// and processor time of a decision, measured in turn. Leaves the counting to keys-peer.ts.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type BenchRow, median } from './measure.js';

const kinds = ['weir', 'rlf', 'ring'] as const;
const names = { weir: '', rlf: 'rate-limiter-flexible', ring: 'ring behind a Map' };
/** What a key may take, in bytes and in us. */
const MOST_BYTES = 400;
const MOST_US = 1;

export async function benchKeys(keys = 1_000_000, rounds = 5): Promise<BenchRow[]> {
  const peer = fileURLToPath(new URL('./keys-peer.js', import.meta.url));
  const execArgv = ['--expose-gc', '--max-old-space-size=4096'];
  const bytes: Record<string, number> = {};
  const costs: Record<string, number[]> = {};
  // A garbage collector with a million objects to look at is part of what is measured, and of one process alone.
  const peers = [];
  for (const kind of kinds) {
    const process = fork(peer, [kind, String(keys)], { execArgv });
    [bytes[kind]] = (await once(process, 'message')) as [number];
    costs[kind] = [];
    peers.push({ kind, process });
  }
  for (let round = 0; round <= rounds; round += 1) {
    for (const { kind, process } of peers) {
      process.send(keys / 2);
      const [us] = (await once(process, 'message')) as [number];
      if (round > 0) costs[kind]!.push(us);
    }
  }
  for (const { process } of peers) process.disconnect();
  const rate = (kind: string) => 1e6 / median(costs[kind]!);
  const what = `keys: decide + record, one of ${keys}`;
  const memory = `keys: memory of one of ${keys}`;
  const against = (kind: 'rlf' | 'ring', target?: number) => ({
    name: names[kind],
    value: rate(kind),
    ratio: rate('weir') / rate(kind),
    ...(target === undefined ? {} : { target }),
  });
  const smaller = (name: string, of: number, target?: number) => ({
    name,
    value: of,
    ratio: of / bytes['weir']!,
    ...(target === undefined ? {} : { target }),
  });
  const speed = { what, value: rate('weir'), unit: 'decisions/s' };
  const size = { what: memory, value: bytes['weir']!, unit: 'bytes' };
  return [
    { ...speed, against: against('rlf', 3) },
    { ...speed, against: against('ring') },
    {
      ...speed,
      against: { name: 'one in a us', value: 1e6 / MOST_US, ratio: (rate('weir') * MOST_US) / 1e6, target: 1 },
    },
    { ...size, against: smaller('bytes allowed, over bytes found', MOST_BYTES, 1) },
    { ...size, against: smaller('rate-limiter-flexible, over ours', bytes['rlf']!) },
    { ...size, against: smaller('ring behind a Map, over ours', bytes['ring']!) },
  ];
}
