// Identifies a limiter from recorded requests, without sending any. Pure.
//
//   all at once     global search over every structure
//   in stages       40 ─► 80 ─► 160 ─► all: explanations of the first requests are refined with each further part
//   at last         every structure is searched near the times of those explanations

import { rangeOf } from '../../core/math/range.js';
import { type Evidence, evidenceOf, type Seen } from './evidence.js';
import { explanationsOf, type Investigated, isAlive, preferred, revivedOf } from './explanations.js';
import type { Fitted } from './fit.js';
import { structures } from './structures.js';
import { onlyTested } from './tested.js';

const FIRST = 40;

export function identifyRecorded(seen: readonly Seen[]): Investigated {
  const evidence = evidenceOf(seen);
  const isLimited = seen.some(({ decision }) => decision === 'limited');
  const explaining = (all: readonly Fitted[]) => {
    const nearMisses = all.filter((one) => !isAlive(one));
    return preferred([...all.filter(isAlive), ...revivedOf(nearMisses, evidence)], evidence);
  };
  const all = explanationsOf(evidence);
  const atOnce = explaining(all);
  const found = atOnce.length > 0 || !isLimited ? atOnce : inStages(evidence);
  const near = found.length === 0 ? all : explanationsOf(evidence, found, structures, true);
  const { least, most } = rangeOf(seen.map(({ sentMs }) => sentMs));
  return {
    evidence,
    ...onlyTested(found.length === 0 ? [] : explaining(near), evidence),
    nearest: near[0],
    elapsedMs: most - least,
    ended: isLimited ? 'settled' : 'never limited',
  };
}

function inStages(whole: Evidence): Fitted[] {
  const { seen } = whole;
  let alive: Fitted[] = [];
  for (let n = FIRST; n < 2 * seen.length; n *= 2) {
    const evidence = evidenceOf(seen.slice(0, n), whole);
    const among = alive.map(({ best }) => best.structure);
    const refitted = among.length === 0 ? [] : explanationsOf(evidence, alive, among).filter(isAlive);
    alive = refitted.length > 0 ? refitted : explanationsOf(evidence).filter(isAlive);
  }
  return alive;
}
