// A stage for one client: a script of what happens to it, and the text of what it made of that, in virtual time.
//
//   script   <ms> <event> [ms of Retry-After]        job, served, limited, failed, lost, timeout, late, rate_limited, ..
//   text     <ms> <event> -> <state>: <what it did>
//
// An answer concerns the oldest attempt without one, or the one named as j2#1: job 2, attempt 1. Alarms go off by themselves.
import type { Attempt, Behaviour, ClientEvent, ClientPort, Job } from '../../../src/actor/client/port.js';
import type { RandomStream } from '../../../src/math/random.js';
import type { Ticket } from '../../../src/time/agenda.js';
import { Rank } from '../../../src/time/rank.js';
import { VirtualClock } from '../../../src/time/virtual.js';

type State = { readonly at: string };

/** @param u what chance gives whenever it is asked */
export function play(behaviour: Behaviour<State>, script: string, u = 0.5): string {
  const stage = new Stage(behaviour, u);
  const lines = script
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  for (const line of lines) {
    const [ms, type, ...rest] = line.split(/\s+/);
    stage.clock.run({ untilMs: Number(ms) });
    stage.hear(type!, rest);
  }
  stage.clock.run();
  return stage.told.join('\n');
}

class Stage implements ClientPort {
  readonly clock = new VirtualClock(0, 777);
  readonly told: string[] = [];
  readonly draw: RandomStream;
  #state: State;
  #did: string[] = [];
  #jobs = 0;
  #alarm: Ticket | undefined;
  readonly #open: Attempt[] = [];
  readonly #abandoned: Attempt[] = [];

  constructor(
    readonly behaviour: Behaviour<State>,
    u: number,
  ) {
    this.#state = behaviour.initial;
    this.draw = { uniform: () => u } as RandomStream;
  }

  hear(type: string, rest: readonly string[]): void {
    const event = this.#read(type, rest);
    this.#tell(event, 'attempt' in event ? ` ${nameOf(event.attempt)}` : '');
  }

  #read(type: string, rest: readonly string[]): ClientEvent {
    const name = rest.find((word) => word.startsWith('j'));
    const ms = rest.find((word) => /^\d+$/.test(word));
    switch (type) {
      case 'job':
        return { type, job: this.newJob() };
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

  now(): number {
    return this.clock.now();
  }

  newJob(): Job {
    this.#jobs += 1;
    return { number: this.#jobs, contract: 0, bornMs: this.now() };
  }

  send(job: Job, number: number): Attempt {
    const attempt = { job, number };
    this.#open.push(attempt);
    this.#did.push(`send ${nameOf(attempt)}`);
    return attempt;
  }

  abandon(attempt: Attempt): void {
    this.#take(nameOf(attempt));
    this.#did.push(`abandon ${nameOf(attempt)}`);
  }

  finish(job: Job, ending: string): void {
    this.#did.push(`j${job.number} ${ending}`);
  }

  setAlarm(atMs: number): void {
    this.#cancel();
    this.#alarm = this.clock.agenda.at(atMs, Rank.client, () => {
      this.#alarm = undefined;
      this.#tell({ type: 'wake' }, '');
    });
    this.#did.push(`alarm at ${atMs}`);
  }

  clearAlarm(): void {
    if (this.#cancel()) this.#did.push('no alarm');
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
    if (attempt === undefined) throw new Error(`no attempt ${name ?? ''} waits for an answer at ${this.now()} ms`);
    return attempt;
  }

  #tell(event: ClientEvent, about: string): void {
    this.#did = [];
    this.#state = this.behaviour.on(this, this.#state, event);
    const did = this.#did.length === 0 ? '' : `: ${this.#did.join(', ')}`;
    this.told.push(`${this.now()} ${event.type}${about} -> ${shown(this.#state)}${did}`);
  }
}

function nameOf({ job, number }: Attempt): string {
  return `j${job.number}#${number}`;
}

/** The name of the state, and how many items it holds. */
function shown(state: State): string {
  const { held } = state as { held?: { size: number } };
  return held === undefined ? state.at : `${state.at}(${held.size})`;
}

/** A text as it stands in a test, without its indentation. */
export function text(of: string): string {
  return of
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}
