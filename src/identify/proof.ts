// What is certain of an explanation, and of there being none. Pure.
//
//   explains   the rule answers as it was seen when each request is counted somewhere between its sending and its answer; if one order
//              of counting does not do, all are searched
import { explainRule } from '../live/rule-explanation.js';
import type { Evidence } from './evidence.js';
import type { Investigated } from './explanations.js';
import type { Fitted } from './fit.js';
import { violationOf } from './violation.js';

/** A search of all orders takes long: it is given so many nodes. */
const MOST_NODES = 60_000;
const PARTS = [0.5, 0.3, 0.7, 0.1, 0.9];

export function explains({ samples }: Fitted, evidence: Evidence, toleranceMs: number): boolean {
  for (const hypothesis of samples) {
    for (const part of PARTS) if (violationOf(hypothesis, evidence, { part, mostMs: 0.01 }).ms <= 0.01) return true;
  }
  const { structure, parameters } = samples[0]!;
  // Where there is a grid its phase is searched, too: that takes too long here.
  if (structure.period !== undefined || structure.isInFlight || structure.holds || evidence.keys.length > 1)
    return true;
  const found = explainRule(evidence.seen, structure.definition(parameters), {
    slackMs: toleranceMs,
    mostNodes: MOST_NODES,
  });
  return found.type !== 'refuted';
}

/** "No rule here explains these answers; the first that none explains is …" */
export function firstUnexplained({ evidence, nearest }: Investigated): string {
  const none = 'No rule here explains these answers';
  if (nearest === undefined) return `${none}.`;
  const { sentMs } = violationOf(nearest.best, evidence);
  const fromMs = evidence.seen.reduce((least, one) => Math.min(least, one.sentMs), Infinity);
  const place = evidence.seen.findIndex((one) => one.sentMs === sentMs);
  const one = evidence.seen[place];
  if (one === undefined) return `${none}.`;
  return (
    `${none}; the first that none explains is request ${place + 1}, sent after ${((sentMs - fromMs) / 1000).toFixed(3)} s and ` +
    `${one.decision}. The nearest is ${nearest.best.structure.words}.`
  );
}
