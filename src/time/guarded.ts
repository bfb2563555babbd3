// Owns what happens when an observer throws: its error reaches the driver of the clock, as if a task had thrown it.
// Leaves what to do about it to the driver: a virtual run throws it, a wall clock hands it to `onError` and goes on.
import { Observable, type Observer, Subscriber, type Subscription, type TeardownLogic } from 'rxjs';
import type { Clock } from './clock.js';
import { Rank } from './rank.js';

type Given<T> = Partial<Observer<T>> | ((value: T) => void) | null | undefined;

/**
 * An Observable whose observers cannot take the process down. RxJS itself rethrows what an observer throws, and an error that
 * nobody handles, from a bare timer where nothing can catch it. Here such an error is put on the agenda as a task that
 * throws, due now. The observer stays subscribed.
 *
 * What is piped from it is guarded, too. What is merged with others is not, and can be guarded again.
 */
export class GuardedObservable<T> extends Observable<T> {
  constructor(
    private readonly clock: Clock,
    subscribe?: (this: Observable<T>, subscriber: Subscriber<T>) => TeardownLogic,
  ) {
    super(subscribe);
  }

  /** How operators make the next Observable of a pipe; RxJS has Subject override it in the same way. */
  override lift<R>(operator?: GuardedObservable<R>['operator']): Observable<R> {
    const lifted = new GuardedObservable<R>(this.clock);
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
    const report = (error: unknown) => {
      // Before all else that is due now, so that a run which ends on errors ends here.
      this.clock.agenda.at(this.clock.now(), Rank.advance, () => {
        throw error;
      });
    };
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
