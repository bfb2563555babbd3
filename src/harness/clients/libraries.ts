// How client libraries retry by default, as data: for a GET, if methods differ, without distinctions that no scenario makes (408, 503).
import type { RetrySpec } from './retry-schema.js';

export interface ClientLibrary {
  /** With the version that was run or read. */
  readonly library: string;
  /** `run`: a test compares it with the library itself. Otherwise its documentation. */
  readonly held: string;
  readonly client: RetrySpec;
}

const aws = (base: string, max_attempts: number): RetrySpec => ({
  max_attempts,
  backoff: { policy: 'geometric', base, cap: '20s', shorten_by: 1 },
  backoff_after: { limited: { policy: 'geometric', base: '1s', cap: '20s', shorten_by: 1 } },
  retry_after: 'clamp',
  retry_quota: {
    capacity: 500,
    cost: { limited: 5, failed: 14, lost: 14, timeout: 14 },
    refund: { first: 1, retried: 'cost' },
  },
});

/** Libraries that ask whether there is a wait take 0 as none. */
const positiveWait: RetrySpec['retry_after'] = { policy: 'obey', zero: 'backoff' };

const stainless: RetrySpec = {
  max_attempts: 3,
  backoff: { policy: 'geometric', base: '500ms', cap: '8s', shorten_by: 0.25 },
  retry_after: 'obey',
};

export const clientLibraries = {
  'aws-sdk-2026': {
    library: 'AWS SDKs since 2026-11-10, standard mode; JavaScript 3.1164',
    held: 'run',
    client: aws('50ms', 3),
  },
  'aws-dynamodb-2026': {
    library: '@aws-sdk/client-dynamodb 3.1164',
    held: 'run',
    client: aws('25ms', 4),
  },
  'aws-sdk-js-2025': {
    library: 'AWS SDK for JavaScript before 2026-11, standard mode',
    held: '@smithy/util-retry 4.0, StandardRetryStrategy and its constants',
    client: {
      max_attempts: 3,
      backoff: { policy: 'geometric', base: '100ms', cap: '20s', shorten_by: 1 },
      backoff_after: { limited: { policy: 'geometric', base: '500ms', cap: '20s', shorten_by: 1 } },
      retry_after: 'floor',
      retry_quota: {
        capacity: 500,
        cost: { limited: 5, failed: 5, lost: 5, timeout: 10 },
        refund: { first: 1, retried: 'cost' },
      },
    },
  },
  'aws-adaptive-2026': {
    library: 'AWS SDKs since 2026-11-10, adaptive mode; JavaScript 3.1164',
    held: 'run',
    client: { ...aws('50ms', 3), gate: { kind: 'cubic' } },
  },
  grpc: {
    library:
      'gRPC with a retry policy of 4 attempts, 100ms to 1s give or take 20 %, and throttling 10/0.1; grpc-js 1.14',
    held: 'run',
    client: {
      max_attempts: 4,
      retries_on: ['failed', 'lost', 'limited'],
      // Of 100 ms, doubled up to 1 s, 80 % to 120 %.
      backoff: { policy: 'geometric', base: '80ms', cap: '800ms', lengthen_by: 0.5 },
      retry_quota: { capacity: 10, cost: 1, charge: 'setback', threshold: 5, refund: { first: 0.1, retried: 0.1 } },
    },
  },
  envoy: {
    library: 'Envoy with retry_on: 5xx,reset and a retry budget',
    held: 'envoyproxy.io: router filter, x-envoy-max-retries; circuit breakers, RetryBudget',
    client: {
      max_attempts: 2,
      retries_on: ['failed', 'lost'],
      backoff: { policy: 'geometric', base: '25ms', cap: '250ms', shorten_by: 1 },
      retry_concurrency: { share: 0.2, least: 3 },
    },
  },
  linkerd: {
    library: 'Linkerd with a service profile; Finagle',
    held: 'linkerd.io: configuring retries, retryBudget of ratio 0.2, 10 a second, ttl 10s',
    client: { max_attempts: 100, retries_on: ['failed'], retry_budget: { share: 0.2, floor: '10/s', over: '10s' } },
  },
  'gateway-api': {
    library: 'Kubernetes Gateway API, retry budgets of GEP-3388',
    held: 'gateway-api.sigs.k8s.io: GEP-3388, budget of 20 % in 10s, at least 10 in 1s',
    client: { max_attempts: 100, retries_on: ['failed'], retry_budget: { share: 0.2, floor: '10/s', over: '10s' } },
  },
  undici: {
    library: 'undici 7.30, RetryAgent',
    held: 'run',
    client: {
      max_attempts: 6,
      retries_on: ['limited', 'failed', 'lost'],
      backoff: { policy: 'geometric', base: '500ms', cap: '30s' },
      retry_after: { policy: 'obey', limit: '30s', zero: 'backoff' },
    },
  },
  got: {
    library: 'got 14.6',
    held: 'run',
    client: {
      max_attempts: 3,
      backoff: { policy: 'geometric', base: '1s', cap: '1h', add: '100ms' },
      retry_after: positiveWait,
    },
  },
  ky: {
    library: 'ky 1.14',
    held: 'run',
    client: {
      max_attempts: 3,
      retries_on: ['limited', 'failed', 'lost'],
      backoff: { policy: 'geometric', base: '300ms', cap: '1h' },
      retry_after: 'obey',
    },
  },
  'axios-retry': {
    library: 'axios-retry 4.5',
    held: 'run',
    client: { max_attempts: 4, retries_on: ['limited', 'failed', 'lost'], retry_after: 'floor' },
  },
  'axios-retry-exponential': {
    library: 'axios-retry 4.5 with retryDelay: exponentialDelay',
    held: 'run',
    client: {
      max_attempts: 4,
      retries_on: ['limited', 'failed', 'lost'],
      backoff: { policy: 'geometric', base: '200ms', cap: '1h', lengthen_by: 0.2 },
      retry_after: 'floor',
    },
  },
  'p-retry': {
    library: 'p-retry 7.1 around a call that throws',
    held: 'run',
    client: { max_attempts: 11, backoff: { policy: 'geometric', base: '1s', cap: '1h' } },
  },
  openai: { library: 'openai 6.49', held: 'run', client: stainless },
  anthropic: {
    library: '@anthropic-ai/sdk 1.12',
    held: '@anthropic-ai/sdk 1.12.0, client.js, retryRequest',
    client: { ...stainless, retry_after: positiveWait },
  },
  superagent: {
    library: 'superagent 10.4 with retry(3)',
    held: 'run',
    client: { max_attempts: 4 },
  },
  'fetch-retry': {
    library: 'fetch-retry 6.0',
    held: 'github.com/jonbern/fetch-retry: three retries after 1s, of network errors alone',
    client: { max_attempts: 4, retries_on: ['lost'], backoff: { policy: 'fixed', base: '1s' } },
  },
  'client-go': {
    library: 'k8s.io/client-go, rest.Config with its defaults',
    held: 'k8s.io/client-go/rest: DefaultQPS 5, DefaultBurst 10, with_retry.go',
    client: {
      max_attempts: 11,
      retries_on: ['limited'],
      retry_after: { policy: 'obey', missing: 'stop' },
      gate: { kind: 'limiter', limiter: 'token-bucket 5/s burst=10' },
    },
  },
  urllib3: {
    library: 'urllib3 2.7, Retry(5, backoff_factor=0.2, status_forcelist=[503])',
    held: 'run',
    client: {
      max_attempts: 6,
      backoff: { policy: 'geometric', base: '200ms', cap: '2m', first: 0 },
      retry_after: positiveWait,
    },
  },
  curl: {
    library: 'curl 7.88 --retry 3',
    held: 'run',
    client: {
      max_attempts: 4,
      retries_on: ['limited', 'failed', 'timeout'],
      backoff: { policy: 'geometric', base: '1s', cap: '10m' },
      retry_after: positiveWait,
    },
  },
  retryablehttp: {
    library: 'hashicorp/go-retryablehttp 0.7',
    held: 'github.com/hashicorp/go-retryablehttp, client.go: DefaultRetryPolicy, DefaultBackoff',
    client: {
      max_attempts: 5,
      backoff: { policy: 'geometric', base: '1s', cap: '30s' },
      retry_after: 'obey',
    },
  },
  polly: {
    library: 'Polly 8, RetryStrategyOptions',
    held: 'pollydocs.org: RetryStrategyOptions, three retries, constant delay of 2s',
    client: { max_attempts: 4, backoff: { policy: 'fixed', base: '2s' } },
  },
  resilience4j: {
    library: 'resilience4j-retry',
    held: 'resilience4j.readme.io: Retry, maxAttempts 3, waitDuration 500ms',
    client: { max_attempts: 3, backoff: { policy: 'fixed', base: '500ms' } },
  },
  'resilience4j-breaker': {
    library: 'resilience4j-circuitbreaker around a call without retries',
    held: 'resilience4j.readme.io: CircuitBreaker, half of at least 100 calls, open for 60s; calls in 100s for the last 100, one failed of 10 trials for half',
    client: {
      max_attempts: 1,
      gate: { kind: 'breaker', share: 0.5, over: '100s', least: 100, open: '60s', trials: 10 },
    },
  },
  'sre-throttle': {
    library: 'client throttling and retry budgets of the SRE book',
    held: '"Site Reliability Engineering", O\'Reilly 2016, chapter 21: K = 2 over two minutes, three attempts, 10 % of requests',
    client: {
      max_attempts: 3,
      retry_budget: { share: 0.1, over: '2m' },
      gate: { kind: 'throttle', k: 2, over: '2m' },
    },
  },
  'consul-windowed': {
    library: 'a client that returns at a uniform time in the window after, windows of 1s doubled up to 5m',
    held: 'Consul agents against golang.org/x/time/rate: retry in [m, 2m), m = 1s * 2^n, at most 5m',
    client: {
      max_attempts: 1000,
      backoff: { policy: 'geometric', base: '1s', cap: '5m', lengthen_by: 1 },
    },
  },
} satisfies Record<string, ClientLibrary>;

export type LibraryName = keyof typeof clientLibraries;
