// Durations as Go and HAProxy write them.
export const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  s: 1e3,
  m: 6e4,
  h: 3.6e6,
  d: 8.64e7,
};

/** A Go duration: `1s`, `1h30m`, `0.5s`; else undefined. @param unit default for a plain number */
export function durationOf(text: string, unit?: string): string | undefined {
  const one = unit !== undefined && /^\d+(?:\.\d+)?$/.test(text) ? `${text}${unit}` : text;
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+$/.test(one)) return undefined;
  const parts = [...one.replaceAll('µ', 'u').matchAll(/([\d.]+)(ns|us|ms|s|m|h|d)/g)];
  if (parts.length === 1) return parts[0]![0];
  return `${parts.reduce((ms, [, n, given]) => ms + Number(n) * UNITS_MS[given!]!, 0)}ms`;
}
