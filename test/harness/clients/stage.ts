// A stage for one behaviour: a story of its events, and the states and effects that follow, in virtual time.
//
//   <ms> <event> [attempt] [ms of Retry-After] -> <state>: <what it did>        job, served, limited, failed, lost, timeout, late, rate_limited, ..
//
// An answer concerns the attempt named as j2#1: job 2, attempt 1. What follows by itself is not played: wake, no_retry, entered and
// turned_away. `wake!` is one that comes unasked.
import { type AnyStateMachine, assign, type EventObject, emit, enqueueActions, setup, transition } from 'xstate';
import type { Agenda } from '../../../src/core/time/agenda.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import type { Attempt, Behaviour, ClientEvent, Effect, Job } from '../../../src/harness/clients/behaviour.js';
import { Client, type ClientWorld, type SentAttempt, type Transport } from '../../../src/harness/clients/client.js';
import { type ChartedState, type ClientChart, clientLogic } from '../../../src/harness/clients/client-chart.js';
import type { ClientGate } from '../../../src/harness/clients/client-gates.js';
import type { RetryLimit } from '../../../src/harness/clients/retry-limits.js';

/** What follows by itself, and how the event before it tells of that. */
const FOLLOWS: { readonly [Type in ClientEvent['type']]?: (event: ClientEvent) => string } = {
  wake: (event) => ('waitedMs' in event && event.waitedMs === 0 ? 'at once' : ''),
  no_retry: () => 'no retry left',
  entered: () => 'gate open',
  turned_away: () => 'gate shut',
};

/** Plays the events of a story, and tells what happened in the same words. Every uniform variate is 0.5. */
export function play(behaviour: Behaviour<ChartedState>, story: string, limit?: RetryLimit, gate?: ClientGate): string {
  const stage = new Stage(behaviour, limit, gate);
  for (const line of text(story).split('\n')) {
    const [ms, type, ...rest] = line.split(' -> ')[0]!.split(' ');
    if (type! in FOLLOWS) continue;
    stage.clock.run({ untilMs: Number(ms) });
    stage.receive(type!, rest);
  }
  stage.clock.run();
  return stage.lines.join('\n');
}

/** A chart as XState runs it: one pure transition for each event. */
export function interpreted(chart: ClientChart): Behaviour<ChartedState> {
  const machine = clientMachine(chart);
  return {
    initial: { at: chart.config.initial, memory: chart.config.context },
    on({ at, memory: context }, event) {
      const [next, actions] = transition(machine, machine.resolveState({ value: at, context }), event as EventObject);
      const emitted = actions.filter(({ type }) => (type as string) === 'xstate.emit');
      const effects = emitted.map(({ params }) => (params as unknown as { event: Effect }).event);
      return [{ at: next.value as string, memory: next.context as object }, effects];
    },
  };
}

function clientMachine({ config, guards, actions }: ClientChart): AnyStateMachine {
  const drawn = setup({
    types: { context: {} as object, events: {} as ClientEvent, emitted: {} as Effect },
    guards: Object.fromEntries(
      Object.entries(guards).map(([name, guard]) => [
        name,
        ({ context, event }: { context: object; event: ClientEvent }) => guard(context as never, event as never),
      ]),
    ),
    actions: Object.fromEntries(
      Object.entries(actions).map(([name, action]) => [
        name,
        enqueueActions(({ context, event, enqueue }) => {
          const [next, effects] = action(context as never, event as never);
          const gone = Object.fromEntries(Object.keys(context).map((field) => [field, undefined]));
          enqueue(assign({ ...gone, ...next } as never));
          for (const effect of effects) enqueue(emit(effect as never));
        }),
      ]),
    ) as object,
  });
  return drawn.createMachine(config as never) as unknown as AnyStateMachine;
}

/** A client with this behaviour, whose transport answers as the story says. What it does is told behind the event that led to it. */
class Stage {
  readonly clock = new VirtualClock(0, 777);
  readonly #told: { readonly event: string; readonly did: string[] }[] = [];
  readonly #sent: SentAttempt[] = [];
  readonly #client: Client;
  #jobs = 0;

  constructor(behaviour: Behaviour<ChartedState>, limit: RetryLimit | undefined, gate: ClientGate | undefined) {
    const on: typeof behaviour.on = (state, event) => {
      this.#did(FOLLOWS[event.type]?.(event) ?? '');
      const step = behaviour.on(state, event);
      this.#told.push({ event: `${this.clock.now()} ${said(event)} -> ${shown(step[0])}`, did: [] });
      return step;
    };
    const transport: Transport = {
      send: (attempt) => {
        this.#sent.push(attempt);
        this.#did(`send ${nameOf(attempt)}`);
      },
      abandon: (attempt) => this.#did(`abandon ${nameOf(attempt)}`),
    };
    const { agenda } = this.clock;
    const alarms: Pick<Agenda, 'at' | 'cancel'> = {
      at: (ms, rank, task) => {
        this.#did(`alarm at ${ms}`);
        return agenda.at(ms, rank, task);
      },
      cancel: (ticket) => {
        this.#did('no alarm');
        return agenda.cancel(ticket);
      },
    };
    const nothing = () => {};
    const finished = (job: Job, ending: string) => this.#did(`j${job.number} ${ending}`);
    this.#client = new Client('client', 0, { index: 0, limit, gate }, {
      plan: {},
      logic: clientLogic({ ...behaviour, on } as never),
      clock: { now: () => this.clock.now(), agenda: alarms },
      transport,
      tally: { sent: nothing, served: nothing, abandoned: nothing, finished },
      draw: { uniform: () => 0.5 },
      newJob: () => this.#newJob(),
      freed: nothing,
    } as unknown as ClientWorld);
  }

  /** An alarm that is set anew is not told to be off. */
  get lines(): string[] {
    return this.#told.map(({ event, did }) => {
      const all = did.filter((one, k) => one !== 'no alarm' || !did[k + 1]?.startsWith('alarm at'));
      return [event, ...(all.length === 0 ? [] : [all.join(', ')])].join(': ');
    });
  }

  receive(type: string, [name, ms]: readonly string[]): void {
    const attempt = this.#sent.find((one) => nameOf(one) === name)!;
    if (type === 'job') this.#client.receive({ type, job: this.#newJob() }, 'arrivals');
    else if (type === 'timeout') {
      attempt.end('abandoned');
      this.#client.receive({ type, attempt }, 'agenda');
    } else if (type === 'limited') attempt.answer({ type, retryAfterMs: ms === undefined ? undefined : Number(ms) });
    else if (type === 'served' || type === 'failed' || type === 'lost') attempt.answer({ type });
    else if (type === 'late') attempt.answer({ type: 'served' });
    else this.#client.receive({ type: type.replace('!', '') } as ClientEvent, 'gate');
  }

  #newJob(): Job {
    this.#jobs += 1;
    return { number: this.#jobs, contract: 0, bornMs: this.clock.now() };
  }

  #did(words: string): void {
    if (words !== '') this.#told.at(-1)!.did.push(words);
  }
}

function said(event: ClientEvent): string {
  const ms = 'retryAfterMs' in event ? event.retryAfterMs : undefined;
  // One that comes unasked has not been waited for.
  const type = event.type === 'wake' && event.waitedMs === undefined ? 'wake!' : event.type;
  return [type, ...('attempt' in event ? [nameOf(event.attempt)] : []), ...(ms === undefined ? [] : [ms])].join(' ');
}

function nameOf({ job, number }: Attempt): string {
  return `j${job.number}#${number}`;
}

/** The name of the state, and how many items it holds. */
function shown({ at, memory }: ChartedState): string {
  const { held } = memory as { held?: { size: number } };
  return held === undefined ? at : `${at}(${held.size})`;
}

/** A text as it stands in a test, without its indentation. */
export function text(of: string): string {
  return of
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}
