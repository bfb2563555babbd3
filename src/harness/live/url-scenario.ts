// The scenario of `weir load URL`: the options of a load tool as a scenario with a target.
//
//   weir load http://127.0.0.1:8080/ --rate 50/s --for 30s        |..|..|..|    a constant rate, open loop
//   weir load http://127.0.0.1:8080/ --rate max -c 50 --for 30s   |o-o-o--o|    closed loop: each connection sends after each answer
import { Failure } from '../../core/schema/failure.js';
import { cycleMsFor, parseRate, parseTimeMs } from '../../core/schema/quantity.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import type { ScenarioObject } from '../scenario/load-scenario.js';
import type { PoolRequest } from './http-pool.js';

interface UrlLoad {
  readonly url: string;
  /** `50/s`, `300/min`; a plain number is per second; `max`: as fast as the connections allow. Or the requests of each cycle. */
  readonly rate: string | readonly number[];
  readonly connections: number;
  /** `30s`, `5m`; a plain number is seconds. */
  readonly duration: string;
  readonly method?: PoolRequest['method'] | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  readonly limited?: readonly number[] | undefined;
  /** As in a scenario; undefined: no prediction. */
  readonly limiter?: Readonly<Record<string, unknown>> | undefined;
  readonly windows: readonly (number | string | undefined)[];
  readonly cycleMs?: number | undefined;
}

const STATUSES = Array.from({ length: 500 }, (_, k) => 100 + k);

interface UrlScenario {
  readonly scenario: ScenarioObject;
  /** Rate times duration; undefined for a closed loop. The last cycle of the scenario may be longer than the duration. */
  readonly requests: number | undefined;
}

export function scenarioOfUrl(asked: UrlLoad): UrlScenario {
  const { url, method, headers, body, limiter, windows, limited = [429] } = asked;
  const isClosed = asked.rate === 'max';
  const counts = typeof asked.rate === 'string' ? undefined : asked.rate;
  const rate = /^[\d.]+$/.test(String(asked.rate)) ? `${asked.rate}/s` : String(asked.rate);
  const duration = /^[\d.]+$/.test(asked.duration) ? `${asked.duration}s` : asked.duration;
  const cycleMs = asked.cycleMs ?? cycleMsFor(windows.length === 0 ? ['1s'] : windows, CYCLE_MS);
  const perMs =
    isClosed || counts !== undefined
      ? undefined
      : checked(`--rate takes how often, not "${asked.rate}".`, '50/s, 300/min or max', () => {
          const { requests, cycles } = parseRate(rate, cycleMs);
          return requests / cycles / cycleMs;
        });
  const forMs = checked(`--for takes how long, not "${asked.duration}".`, '30s or 5m', () =>
    parseTimeMs(duration, cycleMs, '', 1),
  );
  const scenario: ScenarioObject = {
    question:
      counts === undefined
        ? `How does ${url} answer ${isClosed ? `${asked.connections} connections` : rate} for ${duration}?`
        : `Does ${url} follow the limit?`,
    name: hostIn(url),
    cycle_ms: cycleMs,
    duration: counts?.length ?? Math.ceil(forMs / cycleMs),
    drain: 0,
    limiter: (limiter ?? { primitive: 'none', params: {} }) as NonNullable<ScenarioObject['limiter']>,
    arrivals: [
      counts === undefined
        ? { model: 'constant', rate: isClosed ? '1/s' : rate }
        : { model: 'counts', counts: [...counts] },
    ],
    target: {
      url,
      ...(method !== undefined || body !== undefined ? { method: method ?? 'POST' } : {}),
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
      limited_status: [...limited],
      // Without a prediction every other status counts as admitted.
      ...(limiter === undefined ? { admitted_status: STATUSES.filter((status) => !limited.includes(status)) } : {}),
    },
  };
  return { scenario, requests: perMs && Math.floor(perMs * forMs + ROUNDING) };
}

/** A product of two doubles may be slightly less than the whole number meant. */
const ROUNDING = 1e-6;

function checked(what: string, example: string, read: () => number): number {
  let why = 'Nothing would be sent.';
  try {
    const value = read();
    if (value > 0) return value;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    why = error.why ?? why;
  }
  throw new Failure('wrong_usage', { what, why, fix: `For example ${example}.` });
}

function hostIn(url: string): string {
  const host = URL.canParse(url) ? new URL(url).host : 'url';
  return (
    host
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'url'
  );
}
