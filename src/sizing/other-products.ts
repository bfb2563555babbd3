// A limit as a file of one of many gateways, clouds and descriptions: fitted to the same requests in the same time, with what differs.
//
//   100 in 46.62 s      kong: 129 a minute, the nearest window that it knows      caddy: 100 in 46620ms
import type { Like } from '../gateway/found.js';
import { limitWriters } from '../gateway/write.js';
import type { Limit, PasteLines } from './lines-to-paste.js';

/** Requests, and the ms in which they are admitted. */
interface Pace {
  readonly n: number;
  readonly ms: number;
}

interface Fitted {
  /** Without its name, which the writer has. */
  readonly limitOf: (pace: Pace) => Readonly<Record<string, unknown>>;
  readonly differs: (pace: Pace) => string;
}

const units = [
  ['second', 1000],
  ['minute', 60_000],
  ['hour', 3_600_000],
  ['day', 86_400_000],
] as const;

const distance = (unitMs: number, ms: number) => Math.max(unitMs, ms) / Math.min(unitMs, ms);

/** The unit nearest to the window, and the requests of it. Rounded up: what passes here passes there. */
function perUnit({ n, ms }: Pace): readonly [unit: string, count: number] {
  const [unit, unitMs] = [...units].sort(([, a], [, b]) => distance(a, ms) - distance(b, ms))[0]!;
  return [unit, Math.ceil((n * unitMs) / ms)];
}

const unitDiffers = (pace: Pace) => {
  const [unit, count] = perUnit(pace);
  return `Windows of a ${unit} that begin with it, so up to ${2 * count} pass over the edge of two.`;
};
const seconds = (ms: number) => Math.max(1, Math.round(ms / 1000));
const twice = ({ n }: Pace) => `up to ${2 * n - 1} pass over the edge of two`;
const bucket = ({ n }: Pace) =>
  `A bucket: ${n} at once, then the rate while it refills. Refused requests do not count.`;
const published = (pace: Pace) => `It describes the limit, and limits nothing. ${unitDiffers(pace)}`;

const fitted: Readonly<Record<string, Fitted>> = {
  'envoy-ratelimit': {
    limitOf: (pace) => ({ requests_per_unit: perUnit(pace)[1], unit: perUnit(pace)[0] }),
    differs: (pace) => `${unitDiffers(pace)} The routes of Envoy have to send the descriptor.`,
  },
  'envoy-gateway': {
    limitOf: (pace) => ({ requests_per_unit: perUnit(pace)[1], unit: perUnit(pace)[0] }),
    differs: unitDiffers,
  },
  kong: {
    limitOf: (pace) => ({ [perUnit(pace)[0]]: perUnit(pace)[1] }),
    differs: (pace) => `${unitDiffers(pace)} Refused requests do not count. Counted in each node.`,
  },
  'kong-advanced': {
    limitOf: ({ n, ms }) => ({ limit: n, window_size: seconds(ms) }),
    differs: () => 'A sliding estimate from two windows. Refused requests count, too.',
  },
  apisix: {
    limitOf: ({ n, ms }) => ({ count: n, time_window: seconds(ms) }),
    differs: (pace) => `A window that opens with the first request: ${twice(pace)}. Counted in each node.`,
  },
  traefik: { limitOf: ({ n, ms }) => ({ average: n, period: `${ms}ms`, burst: n }), differs: bucket },
  caddy: {
    limitOf: ({ n, ms }) => ({ max_events: n, window: `${ms}ms` }),
    differs: () => 'An exact log of the admitted requests. Refused ones do not count.',
  },
  spring: {
    limitOf: ({ n, ms }) => ({ replenishRate: Math.ceil((1000 * n) / ms), burstCapacity: n }),
    differs: (pace) => `${bucket(pace)} Whole tokens come once a second.`,
  },
  'terraform-aws-waf': {
    limitOf: ({ n, ms }) => {
      const [window = 60] = [60, 120, 300, 600].sort((a, b) => distance(1000 * a, ms) - distance(1000 * b, ms));
      return { limit: Math.ceil((1000 * n * window) / ms), evaluation_window_sec: window };
    },
    differs: () =>
      'An estimate about every 10 s, up to 30 s late: bursts pass. Refused requests count, too. The limit is at least 10.',
  },
  'terraform-aws-api-gateway': {
    limitOf: ({ n, ms }) => ({ rate_limit: Number(((1000 * n) / ms).toPrecision(6)), burst_limit: n }),
    differs: (pace) => `${bucket(pace)} Per API key of the plan, and best effort.`,
  },
  'terraform-cloudflare': {
    limitOf: ({ n, ms }) => ({ requests_per_period: n, period: seconds(ms), mitigation_timeout: seconds(ms) }),
    differs: () =>
      'Counted in each data centre, with a lag. A client that exceeds is refused for the whole timeout. Plans allow some periods only.',
  },
  'terraform-google': {
    limitOf: ({ n, ms }) => ({ count: n, interval_sec: seconds(ms) }),
    differs: () => 'Approximate, and counted in each region. Some intervals only are allowed.',
  },
  'api-commons': {
    limitOf: (pace) => ({ limit: perUnit(pace)[1], timeframe: perUnit(pace)[0] }),
    differs: published,
  },
  'x-rate-limit': {
    limitOf: ({ n, ms }) => ({ limit: n, window: `${ms}ms` }),
    differs: () => 'It describes the limit, and limits nothing: tools read this extension in ways of their own.',
  },
};

/** Names that `--as` takes. */
export const otherProducts: readonly string[] = Object.keys(fitted);

/** The lines of a product of `otherProducts`. */
export function linesAs(product: string, { threshold, within, cycleMs, key }: Limit): PasteLines {
  const { like, write } = limitWriters[product]!;
  const { limitOf, differs } = fitted[product]!;
  const pace = { n: threshold, ms: within * cycleMs };
  const limit: Like = { like, ...limitOf(pace) };
  const isOther = key !== undefined && key !== 'client';
  return {
    product,
    lines: write(limit, key === undefined ? 'all' : 'client'),
    differs: `${differs(pace)}${isOther ? ` It counts client addresses: put in their place what "${key}" is there.` : ''}`,
  };
}
