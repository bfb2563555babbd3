// Observables whose observers cannot take the process down: what an observer throws is reported, and the observer stays subscribed.
import { Observable, type Observer, Subscriber, type Subscription, type TeardownLogic } from 'rxjs';
import type { Clock } from './clock.js';
import { Rank } from './rank.js';

type Given<T> = Partial<Observer<T>> | ((value: T) => void) | null | undefined;

/** Is given what an observer throws, and an error that no observer handles. */
export type Report = (error: unknown) => void;

/** To the driver of a clock, as if a task had thrown it: a virtual run throws it, a wall clock hands it to `onError` and goes on. */
export function toDriverOf(clock: Clock): Report {
  return (error) => {
    // Before all else that is due now, so that a run which ends on errors ends here.
    clock.agenda.at(clock.now(), Rank.advance, () => {
      throw error;
    });
  };
}

/** As a warning of the process: on standard error, unless the program listens to warnings. */
export function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

/**
 * RxJS itself rethrows what an observer throws, and an error that nobody handles, from a bare timer where nothing can catch it. Here
 * such an error goes to `report`. The observer stays subscribed.
 *
 * What is piped from it is guarded, too. What is merged with others is not, and can be guarded again.
 */
export class GuardedObservable<T> extends Observable<T> {
  readonly #report: Report;

  constructor(report: Report, subscribe?: (this: Observable<T>, subscriber: Subscriber<T>) => TeardownLogic) {
    super(subscribe);
    this.#report = report;
  }

  /** How operators make the next Observable of a pipe; RxJS has Subject override it in the same way. */
  override lift<R>(operator?: GuardedObservable<R>['operator']): Observable<R> {
    const lifted = new GuardedObservable<R>(this.#report);
    lifted.source = this;
    lifted.operator = operator;
    return lifted;
  }

  override subscribe(observer?: Partial<Observer<T>> | ((value: T) => void)): Subscription;
  override subscribe(
    next?: ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription;
  override subscribe(given?: Given<T>, error?: ((error: unknown) => void) | null, complete?: (() => void) | null) {
    // An operator's own subscriber passes errors on down the pipe; only who stands at its end can lose them.
    if (given instanceof Subscriber) return super.subscribe(given);
    return super.subscribe(
      this.#guard(typeof given === 'object' && given ? given : observerOf(given, error, complete)),
    );
  }

  #guard(observer: Partial<Observer<T>>): Observer<T> {
    const report = this.#report;
    const guarded = (deliver: () => void) => {
      try {
        deliver();
      } catch (error) {
        report(error);
      }
    };
    return {
      next: (value) => guarded(() => observer.next?.(value)),
      error: (error) => (observer.error ? guarded(() => observer.error?.(error)) : report(error)),
      complete: () => guarded(() => observer.complete?.()),
    };
  }
}

function observerOf<T>(
  next: ((value: T) => void) | null | undefined,
  error: ((error: unknown) => void) | null | undefined,
  complete: (() => void) | null | undefined,
): Partial<Observer<T>> {
  return { ...(next && { next }), ...(error && { error }), ...(complete && { complete }) };
}
