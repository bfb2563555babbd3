// When each rule refuses, as a heat map with a row per rule.
import type { ComparedRules } from '../../harness/outcome/compared-rules.js';
import { type ChartSpec, heatMap } from '../chart-specs/spec.js';
import { duration } from '../words.js';

const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;

export function refusalsChart({ rules, timeline }: Pick<ComparedRules, 'rules' | 'timeline'>): ChartSpec {
  const { startMs, partMs, requests, refused } = timeline;
  const values = refused.map((ofRule, rule) =>
    ofRule.map((n, part) => {
      const all = requests[rule]![part]!;
      return all === 0 ? null : Math.round((1000 * n) / all) / 10;
    }),
  );
  const parts = values[0]?.length ?? 0;
  // As in reports: a run that starts within 1970 has no calendar time.
  const isCalendar = startMs > YEAR_MS;
  const isLong = partMs * parts > DAY_MS;
  const at = (part: number) => new Date(startMs + part * partMs).toISOString().replace('T', ' ');
  const clock = (part: number) => (isLong ? at(part).slice(5, 16) : at(part).slice(11, 19));
  const names = Array.from({ length: parts }, (_, part) => (isCalendar ? clock(part) : duration(part * partMs)));
  const high = Math.max(1, ...values.flat().map((value) => value ?? 0));
  return {
    id: 'rules',
    title: 'Requests refused, in %',
    about: `Each column is ${duration(partMs)}; empty where nothing came. ${isCalendar ? 'Times in UTC.' : 'Times from the first request.'}`,
    ...heatMap(isCalendar ? 'Time (UTC)' : 'Time from the first request', names, 'Rule', {
      names: rules.map(({ name }) => name),
      values,
      low: 0,
      high,
    }),
    height: Math.min(560, 130 + 34 * rules.length),
  };
}
