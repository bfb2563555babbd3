// The clock of the node, as the page shows it: read now and then, and carried on between two readings. Times are those of the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import { weir, wordsOf } from './node-client.js';

export interface NodeClock {
  readonly cycle: number;
  readonly cycleMs: number;
  /** The end of `cycle`, in ms on the clock of the page. */
  readonly endMs: number;
}

/** Milliseconds on the clock of the page. */
function pageMs(): number {
  return Number(document.timeline.currentTime);
}

/** The cycle now, and how much of it is over, from 0 to 1. */
export function nodeNow({ cycle, cycleMs, endMs }: NodeClock): { readonly cycle: number; readonly share: number } {
  const passed = (pageMs() - endMs) / cycleMs;
  const whole = Math.floor(passed) + 1;
  return { cycle: cycle + whole, share: passed - whole + 1 };
}

export async function readClock(): Promise<NodeClock> {
  const { cycle, cycle_ms: cycleMs, next_cycle_in_ms } = await weir.call('readClock');
  return { cycle, cycleMs, endMs: pageMs() + next_cycle_in_ms };
}

/**
 * Does something at once and then again and again, each time after the last has ended; less often while nobody looks at the page.
 * @param depends where one of them changes, it begins anew
 */
export function useEvery(ms: number, work: () => Promise<void>, ...depends: readonly unknown[]): void {
  const latest = useRef(work);
  latest.current = work;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const go = async () => {
      await latest.current();
      if (!isOver) timer = setTimeout(go, document.hidden ? 5 * ms : ms);
    };
    void go();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [ms, ...depends]);
}

/** What the node answers, asked for again and again; and in words why it did not the last time. */
export function useAnswer<Answer>(
  ms: number,
  ask: () => Promise<Answer>,
  ...depends: readonly unknown[]
): readonly [answer: Answer | undefined, fault: string] {
  const [answer, setAnswer] = useState<Answer>();
  const [fault, setFault] = useState('');
  const work = async () => {
    try {
      setAnswer(await ask());
      setFault('');
    } catch (error) {
      setFault(wordsOf(error));
    }
  };
  useEvery(ms, work, ...depends);
  return [answer, fault];
}

/** The clock of the node, read once in a while; undefined before the first reading. */
export function useClock(): NodeClock | undefined {
  const [clock, setClock] = useState<NodeClock>();
  useEvery(10_000, async () => {
    const read = await readClock().catch(() => undefined);
    if (read !== undefined) setClock(read);
  });
  return clock;
}
