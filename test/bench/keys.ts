// A million keys of one contract, beside rate-limiter-flexible and a bare ring behind a Map, each in a process of its own: memory of a key,
// and processor time of a decision, measured in turn. Leaves the counting to keys-peer.ts.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Against, atMost, type BenchRow, beside, inTurn } from './measure.js';

const kinds = ['weir', 'rlf', 'ring'] as const;
const names = { rlf: 'rate-limiter-flexible', ring: 'ring behind a Map' };
/** What a key may take, in bytes and in us. */
const MOST_BYTES = 400;
const MOST_US = 1;

export async function benchKeys(keys = 1_000_000, rounds = 5): Promise<BenchRow[]> {
  const peer = fileURLToPath(new URL('./keys-peer.js', import.meta.url));
  const execArgv = ['--expose-gc', '--max-old-space-size=4096'];
  const bytes: Record<string, number> = {};
  // A garbage collector with a million objects to look at is part of what is measured, and of one process alone.
  const peers = [];
  for (const kind of kinds) {
    const process = fork(peer, [kind, String(keys)], { execArgv });
    [bytes[kind]] = (await once(process, 'message')) as [number];
    peers.push({ kind, process });
  }
  const measures = peers.map(({ kind, process }) => {
    const perSecond = async () => {
      process.send(keys / 2);
      const [us] = (await once(process, 'message')) as [number];
      return 1e6 / us;
    };
    return [kind, perSecond] as const;
  });
  const rates = await inTurn(Object.fromEntries(measures), rounds);
  for (const { process } of peers) process.disconnect();
  const [rate, size] = [rates['weir']!, bytes['weir']!];
  const decide = (name: string, other: number, target?: number) => ({
    ...{ what: `keys: decide + record, one of ${keys}`, value: rate, unit: 'decisions/s' },
    against: beside(rate, name, other, target),
  });
  const memory = (against: Against) => ({
    ...{ what: `keys: memory of one of ${keys}`, value: size, unit: 'bytes', against },
  });
  const overOurs = (kind: 'rlf' | 'ring') =>
    memory({ name: `${names[kind]}, over ours`, value: bytes[kind]!, ratio: bytes[kind]! / size });
  return [
    decide(names.rlf, rates['rlf']!, 3),
    decide(names.ring, rates['ring']!),
    decide('one in a us', 1e6 / MOST_US, 1),
    memory(atMost(MOST_BYTES, size, 'bytes')),
    overOurs('rlf'),
    overOurs('ring'),
  ];
}
