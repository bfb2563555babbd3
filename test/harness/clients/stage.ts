// A stage for one behaviour: a story of its events, and the states and effects that follow, in virtual time.
//
//   <ms> <event> [attempt] [ms of Retry-After] -> <state>: <what it did>        job, served, limited, failed, lost, timeout, late, rate_limited, ..
//
// An answer concerns the attempt named as j2#1: job 2, attempt 1. What follows by itself is not played: wake, no_retry, entered and
// turned_away. `wake!` is one that comes unasked.
import { type AnyStateMachine, assign, type EventObject, emit, enqueueActions, setup, transition } from 'xstate';
import type { RandomStream } from '../../../src/core/math/random.js';
import type { Ticket } from '../../../src/core/time/agenda.js';
import { Rank } from '../../../src/core/time/rank.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import type { Attempt, Behaviour, ClientEvent, Effect, Job, Wait } from '../../../src/harness/clients/behaviour.js';
import type { ChartedState, ClientChart } from '../../../src/harness/clients/client-chart.js';
import type { ClientGate } from '../../../src/harness/clients/client-gates.js';
import type { RetryLimit } from '../../../src/harness/clients/retry-limits.js';

const FOLLOWS = ['wake', 'no_retry', 'entered', 'turned_away'];

/** Plays the events of a story, and tells what happened in the same words. Every uniform variate is 0.5. */
export function play(behaviour: Behaviour<ChartedState>, story: string, limit?: RetryLimit, gate?: ClientGate): string {
  const stage = new Stage(behaviour, limit, gate);
  for (const line of text(story).split('\n')) {
    const [ms, type, ...rest] = line.split(' -> ')[0]!.split(' ');
    if (FOLLOWS.includes(type!)) continue;
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

class Stage {
  readonly clock = new VirtualClock(0, 777);
  readonly lines: string[] = [];
  #state: ChartedState;
  #jobs = 0;
  #alarm: Ticket | undefined;
  readonly #open: Attempt[] = [];
  readonly #abandoned: Attempt[] = [];

  constructor(
    readonly behaviour: Behaviour<ChartedState>,
    readonly limit: RetryLimit | undefined,
    readonly gate: ClientGate | undefined,
  ) {
    this.#state = behaviour.initial;
  }

  receive(type: string, rest: readonly string[]): void {
    const event = this.#read(type.replace('!', ''), rest);
    this.#step(event, [type, ...('attempt' in event ? [nameOf(event.attempt)] : []), ...rest.slice(1)].join(' '));
  }

  #read(type: string, rest: readonly string[]): ClientEvent {
    const name = rest.find((word) => word.startsWith('j'));
    const ms = rest.find((word) => /^\d+$/.test(word));
    switch (type) {
      case 'job':
        return { type, job: this.#newJob() };
      case 'served':
      case 'failed':
      case 'lost':
        return { type, attempt: this.#take(name) };
      case 'limited':
        return { type, attempt: this.#take(name), retryAfterMs: ms === undefined ? undefined : Number(ms) };
      case 'timeout': {
        const attempt = this.#take(name);
        this.#abandoned.push(attempt);
        return { type, attempt };
      }
      case 'late':
        return { type, attempt: this.#abandoned.find((one) => nameOf(one) === name)! };
      default:
        return { type } as ClientEvent;
    }
  }

  #newJob(): Job {
    this.#jobs += 1;
    return { number: this.#jobs, contract: 0, bornMs: this.clock.now() };
  }

  /** The effect in words, and what follows it at once. */
  #perform(effect: Effect): [words: string, next?: ClientEvent] {
    switch (effect.type) {
      case 'send':
        return [this.#send({ job: effect.job, number: effect.number })];
      case 'send_new':
        return [this.#send({ job: this.#newJob(), number: 1 })];
      case 'abandon': {
        const names = this.#open.map(nameOf);
        this.#open.length = 0;
        return [names.map((name) => `abandon ${name}`).join(', ')];
      }
      case 'finish':
        return [`j${effect.job.number} ${effect.ending}`];
      case 'wait':
        return [this.#wait(drawn(effect.wait))];
      case 'retry': {
        if (this.limit?.takeRetry(this.clock.now(), effect.after) === false)
          return ['no retry left', { type: 'no_retry' }];
        this.#cancel();
        const waitedMs = drawn(effect.wait);
        return waitedMs === 0 ? ['at once', { type: 'wake', waitedMs }] : [this.#wait(waitedMs)];
      }
      case 'enter': {
        const entry = this.gate?.enter(this.clock.now(), half);
        return entry?.type === 'refused' ? ['gate shut', { type: 'turned_away' }] : ['gate open', { type: 'entered' }];
      }
      case 'cancel_wait':
        return [this.#cancel() ? 'no alarm' : ''];
    }
  }

  #send(attempt: Attempt): string {
    if (attempt.number === 1) this.limit?.requested(this.clock.now());
    this.#open.push(attempt);
    return `send ${nameOf(attempt)}`;
  }

  #wait(waitedMs: number): string {
    this.#cancel();
    const atMs = this.clock.now() + waitedMs;
    this.#alarm = this.clock.agenda.at(atMs, Rank.client, () => {
      this.#alarm = undefined;
      this.#step({ type: 'wake', waitedMs });
    });
    return `alarm at ${atMs}`;
  }

  #cancel(): boolean {
    if (this.#alarm === undefined) return false;
    this.clock.agenda.cancel(this.#alarm);
    this.#alarm = undefined;
    return true;
  }

  #take(name: string | undefined): Attempt {
    const index = name === undefined ? 0 : this.#open.findIndex((one) => nameOf(one) === name);
    const [attempt] = this.#open.splice(index, 1);
    if (attempt === undefined)
      throw new Error(`no attempt ${name ?? ''} waits for an answer at ${this.clock.now()} ms`);
    return attempt;
  }

  #step(event: ClientEvent, said: string = event.type): void {
    const [state, effects] = this.behaviour.on(this.#state, event);
    this.#state = state;
    const performed = effects.map((effect) => this.#perform(effect));
    const words = performed.map(([one]) => one).filter((one) => one !== '');
    const did = words.length === 0 ? '' : `: ${words.join(', ')}`;
    this.lines.push(`${this.clock.now()} ${said} -> ${shown(state)}${did}`);
    for (const [, next] of performed) if (next !== undefined) this.#step(next);
  }
}

const half = { uniform: () => 0.5 } as RandomStream;

function drawn(wait: Wait): number {
  return typeof wait === 'number' ? wait : wait.drawMs(half);
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
