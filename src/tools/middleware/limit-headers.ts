// Rate limit headers as express-rate-limit 8 writes them.
//
//   legacy    X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset (unix s); the server adds Date
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

export type SetField = (name: string, value: string) => unknown;

/** Texts that are the same for many requests are made once: the policy of a limit, that of a key. */
export function fieldsOf(options: HeaderOptions) {
  const { standardHeaders, legacyHeaders, identifier } = options;
  const policyOf = (limit: number, windowMs: number | undefined) => ({
    limit,
    windowMs,
    text: String(limit),
    window: windowMs === undefined ? '' : `;w=${Math.ceil(windowMs / 1000)}`,
    name: `"${identifier ?? `${limit}-in-${words(windowMs ?? 0)}`}"`,
  });
  let policy = policyOf(0, undefined);
  return (counted: CounterAnswer, key: string, nowMs: number, set: SetField): void => {
    const { isAdmitted, limit = 0, remaining, windowMs, resetMs, kept = {} } = counted;
    if (limit !== policy.limit || windowMs !== policy.windowMs) policy = policyOf(limit, windowMs);
    const { text, window, name } = policy;
    const reset = Number.isFinite(resetMs) ? Math.max(0, Math.ceil(resetMs / 1000)) : undefined;
    if (legacyHeaders) {
      set('X-RateLimit-Limit', text);
      set('X-RateLimit-Remaining', String(remaining));
      if (reset !== undefined) set('X-RateLimit-Reset', String(Math.ceil((nowMs + resetMs) / 1000)));
    }
    switch (standardHeaders) {
      case false:
        break;
      case true:
      case 'draft-6':
        set('RateLimit-Policy', `${text}${window}`);
        set('RateLimit-Limit', text);
        set('RateLimit-Remaining', String(remaining));
        if (reset !== undefined) set('RateLimit-Reset', String(reset));
        break;
      case 'draft-7':
        set('RateLimit-Policy', `${text}${window}`);
        set('RateLimit', `limit=${text}, remaining=${remaining}${reset === undefined ? '' : `, reset=${reset}`}`);
        break;
      case 'draft-8':
        kept.policy ??= `${name}; q=${text}${window.replace(';', '; ')}; pk=:${partitionOf(key)}:`;
        set('RateLimit', `${name}; r=${remaining}${reset === undefined ? '' : `; t=${reset}`}`);
        set('RateLimit-Policy', kept.policy);
        break;
    }
    if (!isAdmitted && (standardHeaders !== false || legacyHeaders) && reset !== undefined)
      set('Retry-After', String(reset));
  };
}

function partitionOf(key: string): string {
  return Buffer.from(createHash('sha256').update(key).digest('hex').slice(0, 12)).toString('base64');
}

/** Policy names as in express-rate-limit: `30sec`, `1min`, `2hrs`, `1day`. */
function words(ms: number): string {
  const [seconds, minutes, hours, days] = [ms / 1e3, ms / 60e3, ms / 3_600e3, ms / 86_400e3];
  if (seconds < 60) return `${seconds}sec`;
  if (minutes < 60) return `${minutes}min`;
  if (hours < 24) return `${hours}hr${hours > 1 ? 's' : ''}`;
  return `${days}day${days > 1 ? 's' : ''}`;
}
