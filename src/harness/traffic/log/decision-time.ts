// What a log says of when a request was decided: whether its times are those of ends or of starts, how exact they are, and durations.
import { formatsAndDocuments } from './formats.js';

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, ms: 1, us: 1e-3, ns: 1e-6 };
/** Units of fields whose names do not state them: nginx, loggers for Node.js, HAR and Kong. */
const knownUnits: Readonly<Record<string, string>> = {
  request_time: 's',
  reqtime: 's',
  upstream_response_time: 's',
  responseTime: 'ms',
  time: 'ms',
  'latencies.request': 'ms',
};

/** How long requests took, by the texts of a field, and how exactly it is known; undefined unless its name and all values say it. */
export function durationsIn(field: string | undefined, texts: readonly string[]) {
  const unit = /[_.\s(-](s|ms|us|ns)\)?$/.exec(field ?? '')?.[1] ?? knownUnits[field ?? ''] ?? '';
  const unitMs = unitsMs[unit] ?? Number.NaN;
  const ms = texts.map((text) => Number(text || Number.NaN) * unitMs);
  if (ms.some((one) => !(one >= 0))) return undefined;
  const decimals = texts.reduce((most, text) => Math.max(most, text.split('.')[1]?.length ?? 0), 0);
  return { ms, roughMs: Math.max(1e-3, unitMs / 10 ** decimals) };
}

/** The longest of these times that divides all. */
export function grainMsOf(times: readonly number[]): number {
  return [60_000, 1_000, 100, 10].find((ms) => times.every((one) => one % ms === 0)) ?? 1;
}

export type Order = 'end' | 'start' | 'unknown';

/** Whether times are those of ends or of starts: by the format, or by the lines, which are in order of ends. */
export function orderOf(format: string, times: readonly number[], durations: ReturnType<typeof durationsIn>): Order {
  const { moment = 'any' } = formatsAndDocuments.find(({ name }) => name === format) ?? {};
  if (moment !== 'any') return moment;
  const goesBack = (of: (k: number) => number, byMs: number) => times.some((_, k) => k > 0 && of(k) < of(k - 1) - byMs);
  const isNoEnd = goesBack((k) => times[k]!, 0);
  if (durations === undefined) return isNoEnd ? 'unknown' : 'end';
  const isNoStart = goesBack((k) => times[k]! + durations.ms[k]!, 2 * (grainMsOf(times) + durations.roughMs));
  if (isNoEnd === isNoStart) return 'unknown';
  return isNoEnd ? 'start' : 'end';
}
