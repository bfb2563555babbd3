// Probes, and what each hypothesis predicts for them. Pure.
//
//   burst, silence, burst     ████        ██████          how much has returned
//   burst, then polls         ████    | | | |             when the first returns
//   split burst               ██     ██       ████        what a window remembers
//   hammer                    ████ | | | | | | | | |      whether refused requests count

import { copyOf, LIMITED, type Rule } from '../../core/limiter/rule/rule.js';
import { uncheckedRule } from '../../core/limiter/rule/rule-definition.js';
import type { Evidence } from './evidence.js';
import type { Hypothesis } from './structure.js';
import { BASE_MS } from './violation.js';

/** Simultaneous requests, `atMs` after the beginning of the probe. */
export interface Volley {
  readonly atMs: number;
  readonly n: number;
}

export interface Probe {
  readonly words: string;
  readonly volleys: readonly Volley[];
  /** The first such answer cancels further requests. */
  readonly until?: 'admitted' | 'limited' | undefined;
}

export function probeRequests({ volleys }: Pick<Probe, 'volleys'>): number {
  return volleys.reduce((sum, { n }) => sum + n, 0);
}

export function lengthOf({ volleys }: Pick<Probe, 'volleys'>): number {
  return volleys.at(-1)?.atMs ?? 0;
}

/** @param byMs how much later each volley is, by its place */
export function shifted(probe: Probe, byMs: (place: number) => number): Probe {
  const volleys = probe.volleys.map(({ atMs, n }, place) => ({ atMs: Math.max(0, atMs + byMs(place)), n }));
  return { ...probe, volleys };
}

/** A rule that explains the answers so far. */
export interface Sample {
  readonly hypothesis: Hypothesis;
  readonly rule: Rule;
  /** Of the key, after all that was seen; undefined for an unused key. */
  readonly state: unknown;
}

export function sampleOf(hypothesis: Hypothesis, state: unknown): Sample {
  const { structure, parameters } = hypothesis;
  return { hypothesis, rule: uncheckedRule(structure.definition(parameters)), state };
}

const instantOf = (sentMs: number, { parameters }: Hypothesis, { shortestMs, longestMs }: Evidence) =>
  sentMs + (shortestMs + longestMs) / 4 + parameters.shiftMs + BASE_MS;

const stateOf = ({ rule, state }: Sample) => (state === undefined ? rule.fresh(0) : copyOf(state));

/** How many requests are admitted at an instant; if none, in how many ms the next is. */
export interface Next {
  readonly room: number;
  readonly waitMs: number;
}

export function nextAt(sample: Sample, sentMs: number, evidence: Evidence): Next {
  const { rule, hypothesis } = sample;
  const [now, t] = [stateOf(sample), instantOf(sentMs, hypothesis, evidence)];
  const room = rule.remaining(now, t);
  return { room, waitMs: room >= 1 ? 0 : rule.nextAdmission(now, t, 1) - t };
}

interface PredictedVolley {
  readonly admitted: number;
  readonly held: number;
}

export function predicted(sample: Sample, startMs: number, probe: Probe, evidence: Evidence): PredictedVolley[] {
  const now = { ...sample, state: stateOf(sample) };
  const out: PredictedVolley[] = [];
  for (const { atMs, n } of probe.volleys) {
    const { admitted, held } = sendTo(now, startMs + atMs, n, evidence);
    out.push({ admitted, held });
    const isEnd = probe.until === 'admitted' ? admitted > 0 : probe.until === 'limited' ? admitted < n : false;
    if (isEnd) break;
  }
  return out;
}

/** The sample after `n` more requests. */
export function sampleAfter(sample: Sample, sentMs: number, n: number, evidence: Evidence): Sample {
  const now = { ...sample, state: stateOf(sample) };
  sendTo(now, sentMs, n, evidence);
  return now;
}

function sendTo({ rule, hypothesis, state }: Sample, sentMs: number, n: number, evidence: Evidence): PredictedVolley {
  const { structure } = hypothesis;
  const { longestMs, admittedMs } = evidence;
  const t = instantOf(sentMs, hypothesis, evidence);
  if (structure.holds === undefined && structure.isInFlight === undefined) {
    const admitted = Math.min(n, rule.remaining(state, t));
    for (const cost of [admitted, n - admitted]) if (cost > 0) rule.admit(state, t, cost, 0);
    return { admitted, held: 0 };
  }
  let [admitted, held] = [0, 0];
  for (let k = 0; k < n; k += 1) {
    const delay = rule.admit(state, t, 1, structure.isInFlight ? admittedMs : 0);
    if (delay === LIMITED) continue;
    admitted += 1;
    if (delay > longestMs + 20) held += 1;
  }
  return { admitted, held };
}
