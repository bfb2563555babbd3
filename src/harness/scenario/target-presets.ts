// Answers of real limiters: statuses that mean limited, the header with the wait, and whether requests are held.
//
//   target: { preset: nginx, url: http://127.0.0.1:8080/ }         other fields override those of the preset
export interface TargetPreset {
  readonly limited_status: readonly number[];
  /** Headers with the wait; the first one present counts. Empty if the product sends none. */
  readonly waits: readonly WaitHeader[];
  readonly words: string;
}

export interface WaitHeader {
  readonly name: string;
  /** `s`: seconds; `duration`: for example 99.5ms. */
  readonly unit: 's' | 'duration';
}

const retryAfter: WaitHeader = { name: 'retry-after', unit: 's' };
const reset: WaitHeader = { name: 'ratelimit-reset', unit: 's' };
const oldReset: WaitHeader = { name: 'x-ratelimit-reset', unit: 's' };

const preset = (limited_status: readonly number[], waits: readonly WaitHeader[], words: string): TargetPreset => ({
  limited_status,
  waits,
  words,
});

export const targetPresets = {
  nginx: preset([503], [], 'limited by 503 (limit_req_status); sends no wait; a delay shows as a late answer'),
  haproxy: preset([403, 429], [], 'limited by 403, or 429 with deny_status; sends no wait'),
  'express-rate-limit': preset([429], [retryAfter, reset], 'sends the end of the window in whole seconds'),
  'express-slow-down': preset([429], [], 'limits nothing; a delay shows as a late answer'),
  fastify: preset(
    [429, 403],
    [retryAfter, reset, oldReset],
    'sends the end of the window in whole seconds; 403 once banned',
  ),
  'rate-limiter-flexible': preset([429], [retryAfter], 'sends what its application makes of msBeforeNext'),
  'koa-ratelimit': preset([429], [retryAfter], 'sends the end of the window, cut to whole seconds: too early'),
  'nestjs-throttler': preset([429], [retryAfter], 'sends what is left of the block in whole seconds'),
  'hono-rate-limiter': preset([429], [retryAfter, reset], 'sends the end of the window in whole seconds'),
  envoy: preset([429], [reset, oldReset], 'sends a wait only with its rate limit headers on'),
  kong: preset([429], [retryAfter, reset], 'sends the end of the window in whole seconds'),
  traefik: preset([429], [{ name: 'x-retry-in', unit: 'duration' }, retryAfter], 'sends the wait for a whole token'),
  varnish: preset([429, 503], [], 'limited by the status of its synth; sends no wait'),
  caddy: preset([429], [retryAfter], 'sends the wait in whole seconds'),
  cloudflare: preset([429], [retryAfter], 'sends the wait in whole seconds'),
} as const satisfies Readonly<Record<string, TargetPreset>>;

export type PresetName = keyof typeof targetPresets;
