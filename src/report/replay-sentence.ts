// The first sentence of a replay: how many requests were refused, whose, and when.
//
//   5,221 of 194,619 (2.7 %) refused, all of 2 clients, 14:02-14:13 and 18:30-18:38.
//   1 limit could not be judged: its key is a cookie, which this log has not. None of 40 requests refused by the other limits.
import type { Outcome } from '../harness/outcome/outcome-schema.js';
import { intervalsOfLimiting } from './reported.js';
import { contractWord, counted, instantOf, listed, number, share, stoppedSentence } from './words.js';

/** Spells closer than this are one. */
const GAP_MS = 60_000;
const MOST_SPELLS = 3;

export function replaySentence(outcome: Outcome): string {
  const { requests, limited, contracts, contracts_limited, limits = [] } = outcome;
  const early = stoppedSentence(outcome);
  const unjudged = limits.filter(({ not_judged }) => not_judged !== undefined);
  const first = unjudgedSentence(unjudged);
  if (limits.length > 0 && unjudged.length === limits.length)
    return `${first}${counted(requests, 'request')} read.${early}`;
  const by = unjudged.length === 0 ? '' : ' by the other limits';
  if (limited === 0) return `${first}None of ${counted(requests, 'request')} refused${by}.${early}`;
  const whose = contracts > 1 ? `, all of ${counted(contracts_limited, contractWord(outcome))}` : '';
  const when = spellsOf(outcome);
  return `${first}${number(limited)} of ${number(requests)} (${share(limited, requests)}) refused${by}${whose}${when === '' ? '' : `, ${when}`}.${early}`;
}

/** Empty if all limits were judged. */
function unjudgedSentence(unjudged: NonNullable<Outcome['limits']>): string {
  const reasons = [...new Set(unjudged.map(({ not_judged }) => not_judged))].join('; ');
  return unjudged.length === 0 ? '' : `${counted(unjudged.length, 'limit')} could not be judged: ${reasons}. `;
}

/** Nothing if the outcome does not list every refused contract and each of its transitions. */
function spellsOf(outcome: Outcome): string {
  const { by_contract, contracts_limited, last_cycle, cycle_ms } = outcome;
  const refused = by_contract.filter(({ limited }) => limited > 0);
  if (last_cycle === null || refused.length !== contracts_limited) return '';
  const each = refused.map((contract) => intervalsOfLimiting(outcome, contract, last_cycle + 1));
  if (each.some((intervals, i) => intervals.length !== refused[i]!.entries || intervals.length === 0)) return '';
  // A window keeps limiting after the last request, until it has drained: that is no refusal.
  const lastRequests = new Map<string, number>();
  for (const { contract, entry_cycle, restore_cycle, recovery_cycles } of outcome.reactions ?? [])
    if (restore_cycle !== null && recovery_cycles !== null)
      lastRequests.set(`${entry_cycle} ${contract}`, restore_cycle - recovery_cycles);
  const spells: [from: number, to: number][] = [];
  const refusing = each.flatMap((intervals, i) =>
    intervals.map(([from, restore]) => {
      const last = lastRequests.get(`${from} ${refused[i]!.id}`);
      return [from, last ?? Math.max(from, restore - 1)] as const;
    }),
  );
  for (const [from, to] of refusing.toSorted(([a], [b]) => a - b)) {
    const last = spells.at(-1);
    if (last !== undefined && (from - last[1]) * cycle_ms <= GAP_MS) last[1] = Math.max(last[1], to);
    else spells.push([from, to]);
  }
  const words = spells.slice(0, MOST_SPELLS).map(([from, to]) => spellWords(from, to, outcome));
  if (words.includes(undefined)) return '';
  const more = spells.length - MOST_SPELLS;
  const all = more > 0 ? [...words, `${number(more)} more times`] : words;
  return listed(all as readonly string[]);
}

/** In UTC; with its date if the run is longer than a day. */
function spellWords(from: number, to: number, outcome: Outcome): string | undefined {
  const [start, end] = [from, to].map((cycle) => instantOf(cycle, outcome)?.match(/^(\S+)T(\d\d:\d\d)/));
  if (start == null || end == null) return undefined;
  const days = ((outcome.last_cycle! - outcome.first_cycle!) * outcome.cycle_ms) / 86_400_000;
  const [, startDay, startTime] = start;
  const [, endDay, endTime] = end;
  const [before, after] = days < 1 ? ['', ''] : [`${startDay} `, startDay === endDay ? '' : `${endDay} `];
  const isOne = startDay === endDay && startTime === endTime;
  return isOne ? `${before}${startTime}` : `${before}${startTime}-${after}${endTime}`;
}
