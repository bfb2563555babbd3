// Rate limit headers as express-rate-limit 8 writes them.
//
//   legacy    X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset (unix s), Date
//   draft-6   RateLimit-Policy: 5;w=60   RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset (s)
//   draft-7   RateLimit-Policy: 5;w=60   RateLimit: limit=5, remaining=4, reset=60
//   draft-8   RateLimit-Policy: "5-in-1min"; q=5; w=60; pk=:…:   RateLimit: "5-in-1min"; r=4; t=60
//
// Source: draft-ietf-httpapi-ratelimit-headers-06 to -08. `pk` is a hash of the key.
import { createHash } from 'node:crypto';
import type { CounterAnswer } from './counters.js';

export type StandardHeaders = boolean | 'draft-6' | 'draft-7' | 'draft-8';

interface HeaderOptions {
  readonly standardHeaders: StandardHeaders;
  readonly legacyHeaders: boolean;
  /** Policy name in draft-8. Default: for example `5-in-1min`. */
  readonly identifier: string | undefined;
}

export function headersOf(
  counted: CounterAnswer,
  key: string,
  nowMs: number,
  options: HeaderOptions,
): [string, string][] {
  const { isAdmitted, limit = 0, remaining, windowMs, resetMs } = counted;
  const { standardHeaders, legacyHeaders, identifier } = options;
  const headers: [string, string][] = [];
  const isKnown = Number.isFinite(resetMs);
  const reset = isKnown ? Math.max(0, Math.ceil(resetMs / 1000)) : undefined;
  const window = windowMs === undefined ? undefined : Math.ceil(windowMs / 1000);
  if (legacyHeaders) {
    headers.push(['X-RateLimit-Limit', String(limit)], ['X-RateLimit-Remaining', String(remaining)]);
    headers.push(['Date', new Date(nowMs).toUTCString()]);
    if (isKnown) headers.push(['X-RateLimit-Reset', String(Math.ceil((nowMs + resetMs) / 1000))]);
  }
  switch (standardHeaders) {
    case false:
      break;
    case true:
    case 'draft-6':
      headers.push(['RateLimit-Policy', `${limit}${window === undefined ? '' : `;w=${window}`}`]);
      headers.push(['RateLimit-Limit', String(limit)], ['RateLimit-Remaining', String(remaining)]);
      if (reset !== undefined) headers.push(['RateLimit-Reset', String(reset)]);
      break;
    case 'draft-7':
      headers.push(['RateLimit-Policy', `${limit}${window === undefined ? '' : `;w=${window}`}`]);
      headers.push([
        'RateLimit',
        `limit=${limit}, remaining=${remaining}${reset === undefined ? '' : `, reset=${reset}`}`,
      ]);
      break;
    case 'draft-8': {
      const name = identifier ?? `${limit}-in-${words(windowMs ?? 0)}`;
      const partition = createHash('sha256').update(key).digest('hex').slice(0, 12);
      const pk = Buffer.from(partition).toString('base64');
      headers.push(['RateLimit', `"${name}"; r=${remaining}${reset === undefined ? '' : `; t=${reset}`}`]);
      headers.push([
        'RateLimit-Policy',
        `"${name}"; q=${limit}${window === undefined ? '' : `; w=${window}`}; pk=:${pk}:`,
      ]);
      break;
    }
  }
  if (!isAdmitted && (standardHeaders !== false || legacyHeaders) && reset !== undefined)
    headers.push(['Retry-After', String(reset)]);
  return headers;
}

/** Policy names as in express-rate-limit: `30sec`, `1min`, `2hrs`, `1day`. */
function words(ms: number): string {
  const [seconds, minutes, hours, days] = [ms / 1e3, ms / 60e3, ms / 3_600e3, ms / 86_400e3];
  if (seconds < 60) return `${seconds}sec`;
  if (minutes < 60) return `${minutes}min`;
  if (hours < 24) return `${hours}hr${hours > 1 ? 's' : ''}`;
  return `${days}day${days > 1 ? 's' : ''}`;
}
