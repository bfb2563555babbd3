// Identifies a limiter from recorded requests, without sending any. Pure.
//
//   all at once     global search over every structure
//   in stages       40 ─► 80 ─► 160 ─► all: explanations of the first requests are refined with each further part
//   at last         every structure is searched near the times of those explanations
import { type Evidence, evidenceOf, type Seen } from './evidence.js';
import { explanationsOf, type Investigated, identifyAtOnce, preferred, recheckNearMisses } from './explanations.js';
import type { Fitted } from './fit.js';
import { structures } from './structures.js';
import { TOLERANCE_MS } from './violation.js';

const FIRST = 40;

export function identifyRecorded(seen: readonly Seen[]): Investigated {
  const all = identifyAtOnce(seen);
  const { evidence } = all;
  const found = all.alive.length > 0 || all.ended === 'never limited' ? all.alive : inStages(evidence);
  if (found.length === 0) return all;
  const near = explanationsOf(evidence, found, structures, true);
  const { revived, refuted } = recheckNearMisses(
    near.filter((one) => !isAlive(one)),
    evidence,
  );
  return { ...all, alive: preferred([...near.filter(isAlive), ...revived], evidence), refuted, nearest: near[0] };
}

const isAlive = ({ violationMs }: Fitted) => violationMs <= TOLERANCE_MS;

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
