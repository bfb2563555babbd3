// Every limiter with every client library, under a burst and under an outage: a sweep with predefined axes.
//
//   burst     5/s __|100|________     100 requests at once after 10 s
//   outage    5/s ..xxxxx........     every answer from 10 s to 20 s is lost, as by a reset connection; the requests are counted
import { limitText } from '../../core/limiter/products/limit-text.js';
import { products } from '../../core/limiter/products/products.js';
import { templates } from '../../core/limiter/templates.js';
import { clientLibraries } from '../../harness/clients/libraries.js';
import { type Axis, listAxis, parseAxis } from '../../harness/scenario/grid.js';
import type { ScenarioObject } from '../../harness/scenario/load-scenario.js';

export const matrixFigures = [
  'clients.goodput_per_second',
  'clients.attempts_per_success',
  'clients.drain_ms',
  'clients.job_latency_ms.max',
] as const;

const usual = { model: 'poisson', rate: '5/s' };
const burst = { model: 'spikes', from: '10s', to: '10.5s', requests: 100 };
const outage = { kind: 'lost_answers', share: 1, from: '10s', to: '20s' };

/** Ten processes of one library, which usually send half of what a limiter of ten per second admits. */
export const matrixScenario = {
  question: 'burst',
  name: 'matrix',
  seed: 7,
  cycle_ms: 500,
  duration: '60s',
  drain: '4m',
  arrivals: [usual, burst],
  limiter: 'none',
  clients: [{ like: 'got' }],
} as unknown as ScenarioObject;

/** By name, with the parameters of their examples: ten requests a second. */
function limiters(): Axis {
  const rules = [...templates.values()].flatMap(({ rule }) => rule ?? []);
  const named = [
    ...Object.entries(products).map(([name, { example }]) => [name, limitText({ like: name, ...example })] as const),
    ...rules.map((rule) => [rule.primitive, limitText(rule)] as const),
  ];
  return listAxis(
    'limiter',
    named.map(([, text]) => text),
    { names: named.map(([name]) => name) },
  );
}

function clients(): Axis {
  const names = Object.keys(clientLibraries);
  return listAxis(
    'clients',
    names.map((like) => [{ like, instances: 10 }]),
    { names },
  );
}

const triggers = listAxis('question', ['burst', 'outage'], {
  sets: [
    { arrivals: [usual, burst], faults: [] },
    { arrivals: [usual], faults: [outage] },
  ],
});

/** Axes as written, and `limiter=every`, `clients=every`. @throws Failure `wrong_usage` */
export function everyOf(set: readonly string[]): Axis[] {
  return set.map((text) => {
    if (text === 'limiter=every') return limiters();
    return text === 'clients=every' ? clients() : parseAxis(text);
  });
}

/** Triggers, limiters, clients; `set` replaces them or adds others. @throws Failure `wrong_usage` */
export function matrixAxes(set: readonly string[]): Axis[] {
  const given = everyOf(set);
  const made = [triggers, limiters(), clients()];
  const others = given.filter(({ path }) => !made.some((axis) => axis.path === path));
  return [...made.map((axis) => given.find(({ path }) => path === axis.path) ?? axis), ...others];
}

export function isMatrix(axes: readonly Axis[]): boolean {
  return ['limiter', 'clients'].every((path) => axes.some((axis) => axis.path === path));
}
