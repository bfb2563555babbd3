// Owns the speed of the agenda, beside RxJS's VirtualTimeScheduler doing the same work. Leaves measuring to measure.ts.
import { type SchedulerAction, VirtualTimeScheduler } from 'rxjs';
import { Agenda } from '../../src/core/time/agenda.js';
import { Rank } from '../../src/core/time/rank.js';
import { type BenchRow, type Body, beside, sideBySide } from './measure.js';

const PENDING = 1_000;

/** Delays of 1 to 1,000 ms, in no order, the same for everyone: x -> 377 x mod 1009 runs through all of 1..1008. */
const delays = Float64Array.from({ length: 1_008 }, (_, i) => ((i + 1) * 377) % 1_009);

export async function benchAgenda(): Promise<BenchRow[]> {
  const bodies = { agenda: holding(PENDING), virtualTime: virtualTimeHolding };
  const few = await sideBySide(bodies, { agenda: 1_000_000, virtualTime: 20_000 });
  const { many } = await sideBySide({ many: holding(1e6) }, 2e6, 3);
  const { pairs } = await sideBySide({ pairs: settingAndCancelling }, 1e6);
  const against = beside(few.agenda, 'RxJS VirtualTimeScheduler', few.virtualTime, 130);
  return [
    { what: `agenda: step + at, ${PENDING} pending`, value: few.agenda, unit: 'events/s', against },
    { what: 'agenda: step + at, 1,000,000 pending', value: many, unit: 'events/s' },
    { what: 'agenda: at + cancel, 1,000 pending', value: pairs, unit: 'pairs/s' },
  ];
}

/** The classic "hold": so many tasks wait, and each asks for one more when it runs, until n have been asked for. */
function holding(pending: number): Body {
  return (n) => {
    const agenda = new Agenda(0);
    let asked = 0;
    const task = (due: number) => {
      if (asked < n) agenda.at(due + delays[asked++ % delays.length]!, Rank.client, task);
    };
    while (asked < pending) agenda.at(delays[asked++ % delays.length]!, Rank.client, task);
    while (agenda.step());
  };
}

const virtualTimeHolding: Body = (n) => {
  const scheduler = new VirtualTimeScheduler();
  let asked = 0;
  function work(this: SchedulerAction<undefined>): void {
    if (asked < n) this.schedule(undefined, delays[asked++ % delays.length]!);
  }
  while (asked < PENDING) scheduler.schedule(work, delays[asked++ % delays.length]!);
  scheduler.flush();
};

const settingAndCancelling: Body = (n) => {
  const agenda = new Agenda(0);
  const task = () => {};
  for (let i = 0; i < PENDING; i++) agenda.at(delays[i % delays.length]!, Rank.client, task);
  for (let i = 0; i < n; i++) agenda.cancel(agenda.at(delays[i % delays.length]!, Rank.client, task));
};
