// The node's clock on the page: read occasionally, and extrapolated between readings. Times are those of the page.
import { useEffect, useRef, useState } from 'preact/hooks';
import { weir, wordsOf } from './node-client.js';

export interface NodeClock {
  readonly cycle: number;
  readonly cycleMs: number;
  /** End of `cycle`, in ms of the page's clock. */
  readonly endMs: number;
}

function pageMs(): number {
  return Number(document.timeline.currentTime);
}

export function nodeNow({ cycle, cycleMs, endMs }: NodeClock): { readonly cycle: number; readonly share: number } {
  const passed = (pageMs() - endMs) / cycleMs;
  const whole = Math.floor(passed) + 1;
  return { cycle: cycle + whole, share: passed - whole + 1 };
}

export async function readClock(): Promise<NodeClock> {
  const { cycle, cycle_ms: cycleMs, next_cycle_in_ms } = await weir.call('readClock');
  return { cycle, cycleMs, endMs: pageMs() + next_cycle_in_ms };
}

/** Runs one `work` at a time; less often while the page is hidden. @param depends a change restarts it */
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

export function useClock(): NodeClock | undefined {
  const [clock, setClock] = useState<NodeClock>();
  useEvery(10_000, async () => {
    const read = await readClock().catch(() => undefined);
    if (read !== undefined) setClock(read);
  });
  return clock;
}
