// Somebody sets the clock of the machine while the node serves: an hour ahead, then an hour back. Nothing is counted twice, nothing is
// forgotten, and no record goes back in time.
import { expect, it } from 'vitest';
import { figureIn, metricsOf } from './asking.js';
import { Caller } from './caller.js';
import { Listening } from './listening.js';
import { startRunning } from './running.js';

const HOUR_MS = 3_600_000;
const CYCLE_MS = 777;

/** A machine whose clock is set by hand; its monotonic clock goes on as always. */
function adjustable() {
  let setMs = 0;
  const source = { wallMs: () => Date.now() + setMs, monotonicMs: () => performance.now() };
  const step = (ms: number) => {
    setMs += ms;
  };
  return { source, step };
}

it('a step ahead lets the cycles in between pass; a step back holds the course, and is told', async () => {
  const { source, step } = adjustable();
  const node = await startRunning({ cycleMs: CYCLE_MS, source });
  try {
    const owner = new Caller(node.url, node.keyOf('owner', 4 * HOUR_MS));
    await owner.contractOn('stepped', {}, true);
    const listening = await Listening.to(node, '/api/chain/stepped/stream');
    const send = async (count: number) => {
      const { status, body } = await owner.event('stepped', { count });
      return { status, cycle: body.cycle as number, ...body.contracts[0] };
    };

    const burst = await send(150);
    expect(burst).toMatchObject({ status: 200, state: 'limiting', admitted: 100, limited: 50 });
    step(HOUR_MS);
    const restored = await listening.next('rate_restored');
    // The window empties 60 cycles after the burst, in the cycle that a clock left alone would have said.
    expect(restored.data).toMatchObject({ data: { state: 'allowing', cycle: burst.cycle + 60 } });
    const after = await send(100);
    expect(after).toMatchObject({ status: 200, state: 'allowing', admitted: 100 });
    expect(after.cycle - burst.cycle).toBeGreaterThanOrEqual(Math.floor(HOUR_MS / CYCLE_MS));

    step(-HOUR_MS);
    const next = await send(1);
    expect(next).toMatchObject({ status: 200, state: 'limiting', count: 101, admitted: 0, limited: 1 });
    expect(next.cycle - after.cycle).toBeLessThan(60);
    expect(Math.round(figureIn(await metricsOf(node.url), 'weir_clock_skew_seconds'))).toBe(HOUR_MS / 1000);

    const rows = await owner.rows('stepped');
    const cycles = rows.map(({ cycle }) => cycle);
    expect(cycles).toEqual([...cycles].sort((a, b) => a - b));
    expect(rows.map(({ to }) => to)).toEqual([undefined, 'allowing', 'limiting', 'allowing', 'limiting']);
    expect(node.errors).toEqual([]);
  } finally {
    await node.close();
  }
});
