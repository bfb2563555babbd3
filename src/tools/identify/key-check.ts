// Checks whether a limiter counts each key separately, with at most six requests once a key is at its limit. Pure.
//
//   the key       x refused |    | x |     | x | x | x refused      a new key refused:         one count for all
//   a new key               | o  |   |     |   |   |   admitted     all as drawn:              each on its own
//   another                 |    |   | o   |   |   |
//
// A single admitted new key may have used quota that had just returned to all. Then enough returns between the two new keys that one of
// the three requests at the end is admitted, too.

import type { Investigated } from './explanations.js';
import { type Answered, type Ask, investigate } from './investigation.js';
import type { Probe } from './probe.js';
import type { InvestigationOptions } from './probe-choice.js';

export type KeyScope = 'each on its own' | 'one count for all' | 'not known';

export interface Keyed extends Investigated {
  readonly keys: KeyScope | undefined;
}

const AGAIN = [1, 3];

/** An investigation in which each probe may use a new key, unless all keys share one count. */
export function* investigateKeyed(options: Omit<InvestigationOptions, 'hasKeys'>): Generator<Ask, Keyed, Answered> {
  let keys: KeyScope | undefined;
  const investigation = investigate({
    ...options,
    get hasKeys() {
      return keys !== 'one count for all';
    },
  });
  let next = investigation.next();
  while (next.done !== true) {
    const ask = next.value;
    let answered = yield ask;
    if (keys === undefined && answered.isOver !== true && answered.seen.some(({ decision }) => decision === 'limited'))
      ({ keys, answered } = yield* check(ask.key, answered));
    next = investigation.next(answered);
  }
  return { ...next.value, keys };
}

function* check(key: string, before: Answered): Generator<Ask, { keys: KeyScope; answered: Answered }, Answered> {
  let answered = before;
  for (const [turn, times] of AGAIN.entries()) {
    for (const one of [`${key}-other-${turn}`, ...Array.from({ length: times }, () => key)]) {
      const { seen, nowMs, isOver } = yield { probe, restMs: 0, key: one };
      answered = { seen: [...answered.seen, ...seen], nowMs, isOver };
      const decision = seen[0]?.decision;
      if (one !== key && decision === 'limited') {
        const alike = answered.seen.map((request) => ({ ...request, key }));
        return { keys: 'one count for all', answered: { ...answered, seen: alike } };
      }
      if (isOver === true || decision !== (one === key ? 'limited' : 'admitted'))
        return { keys: 'not known', answered };
    }
  }
  return { keys: 'each on its own', answered };
}

const probe: Probe = { words: 'a new key beside one at its limit', volleys: [{ atMs: 0, n: 1 }] };

export function keysInWords(keys: KeyScope, header: string): string {
  return {
    'each on its own': `It counts each key on its own: a new value of ${header} was admitted while another was refused.`,
    'one count for all': `It has one count for all keys: a new value of ${header} was refused, too. No further ones were sent.`,
    'not known': `Whether it counts each value of ${header} on its own did not show: what was refused was admitted again too soon.`,
  }[keys];
}
