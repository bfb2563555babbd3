// Every product by name, and the translation of any given limiter into a rule.
//
//   { like: nginx, rate: 10r/s, burst: 5 }            ->  { primitive: nginx_limit_req, params: { rate_1000: 10000, burst: 5 } }
//   { primitive: gcra, params: { T_ms: 100, … } }     ->  as it is
//   { paste: 'limit_req_zone …; limit_req …;' }      ->  as like: pasted.ts
//   { threshold: 100, within: 60 }                    ->  { primitive: rolling_count, … }
//   { and: [{ threshold, within }, …] }              ->  all of them

import { nearest } from '../../schema/did-you-mean.js';
import { Failure } from '../../schema/failure.js';
import { MOST_WITHIN, parseTime } from '../../schema/quantity.js';
import { valueFaults } from '../../schema/value-faults.js';
import { checkRule, type RuleDefinition, ruleAdvice } from '../rule/rule-definition.js';
import { checkGivenRule } from '../rule/without-effect.js';
import { gateways } from './gateways.js';
import { goAndJvm } from './go-and-jvm.js';
import { limitFiles } from './limit-files.js';
import { namedText } from './limit-words.js';
import { nodeLibraries } from './node-libraries.js';
import { nodeMiddleware } from './node-middleware.js';
import { otherLibraries } from './other-libraries.js';
import type { Product } from './product.js';
import { servers } from './servers.js';

export const products: Readonly<Record<string, Product>> = {
  ...servers,
  ...gateways,
  ...nodeMiddleware,
  ...nodeLibraries,
  ...goAndJvm,
  ...otherLibraries,
};

const aliases: Readonly<Record<string, string>> = {
  'nginx-limit-req': 'nginx',
  limit_req: 'nginx',
  limit_conn: 'nginx-limit-conn',
  haproxy: 'haproxy-http-req-rate',
  vsthrottle: 'varnish',
  express: 'express-rate-limit',
  hono: 'hono-rate-limiter',
  '@fastify/rate-limit': 'fastify',
  'fastify-rate-limit': 'fastify',
  koa: 'koa-ratelimit',
  nestjs: 'nestjs-throttler',
  '@nestjs/throttler': 'nestjs-throttler',
  lambda: 'lambda-rate-limiter',
  '@upstash/ratelimit': 'upstash',
  '@convex-dev/rate-limiter': 'convex',
  'x/time': 'x-time',
  'golang.org/x/time/rate': 'x-time',
  go: 'x-time',
  envoy: 'envoy-local',
  flexible: 'rate-limiter-flexible',
  django: 'django-ratelimit',
  'flask-limiter': 'python-limits',
  slowapi: 'python-limits',
  'asp.net': 'aspnet',
  apisix: 'apisix-limit-count',
  'rack::attack': 'rack-attack',
  'illuminate/cache': 'laravel',
};

export const productNames: readonly string[] = [...Object.keys(products), ...Object.keys(aliases)];

export function namesOf(name: string): string[] {
  return [name, ...Object.keys(aliases).filter((alias) => aliases[alias] === name)];
}

/** Also finds aliases. @throws Failure `invalid_definition`, with the nearest name */
export function productOf(name: string): { readonly name: string; readonly product: Product } {
  const known = Object.hasOwn(products, name) ? name : Object.hasOwn(aliases, name) ? aliases[name]! : undefined;
  if (known !== undefined) return { name: known, product: products[known]! };
  const guess = nearest(name, productNames);
  const hint = guess === undefined ? '`weir limiter` lists those that there are' : `did you mean "${guess}"?`;
  throw new Failure('invalid_definition', {
    what: `No limiter is called ${JSON.stringify(name)}.`,
    fix: nameAdvice(guess),
    faults: [{ path: '/like', message: `${JSON.stringify(name)} is no limiter that is known; ${hint}` }],
  });
}

/** What to write in place of a name that no limiter has. @param guess the nearest name */
export function nameAdvice(guess: string | undefined): string {
  return guess === undefined ? '`weir limiter` lists those that there are.' : `Did you mean ${guess}?`;
}

/** @param cycleMs for `threshold` and `within` @throws Failure `invalid_definition`, `invalid_input`, with places */
export function definitionOf(limiter: unknown, cycleMs: number): RuleDefinition {
  if (typeof limiter !== 'object' || limiter === null || Array.isArray(limiter)) {
    throw new Failure('invalid_definition', {
      what: 'The limiter is not an object.',
      fix: "Give a text as '100 in 60s', or { primitive, params }, { like, … } or { threshold, within }.",
    });
  }
  const { hold_ms, counts, ...others } = limiter as Readonly<Record<string, unknown>>;
  if ((hold_ms !== undefined || counts !== undefined) && !('primitive' in others)) {
    refuseNearLimit(others, '');
    const further = { ...(hold_ms !== undefined && { hold_ms }), ...(counts !== undefined && { counts }) };
    return checkGivenRule({ ...definitionOf(others, cycleMs), ...further });
  }
  const given = limiter as Readonly<Record<string, unknown>>;
  if ('like' in given) return likeRule(given);
  if ('and' in given) return allOf(given['and'] as readonly Readonly<Record<string, unknown>>[], cycleMs);
  if ('paste' in given) return pastedRule(String(given['paste']), given['location']);
  if ('primitive' in given) return checkGivenRule(given);
  const { near_limit: _, shadow, threshold, within, ...further } = given;
  if (shadow === true)
    throw new Failure('invalid_definition', {
      what: 'A limiter in shadow admits everything.',
      fix: 'Leave out shadow to see what it would limit.',
    });
  const [unknown] = Object.keys(further);
  if (unknown !== undefined) return checkRule(given);
  const cycles = within === undefined ? undefined : parseTime(within as number | string, cycleMs, '/within', 1);
  if (cycles !== undefined && cycles > MOST_WITHIN) throw tooManyCycles(cycles, cycleMs);
  return checkRule({
    primitive: 'rolling_count',
    params: {
      ...(threshold === undefined ? {} : { threshold }),
      ...(cycles === undefined ? {} : { within: cycles }),
      cycle_ms: cycleMs,
    },
  });
}

function tooManyCycles(cycles: number, cycleMs: number): Failure {
  const message = `has ${cycles} cycles of ${cycleMs} ms, and a window has at most ${MOST_WITHIN}`;
  const fix = "Give longer cycles, or rules, which need none: 'sliding_log 10 in 1s and sliding_log 100000 in 30d'.";
  return refused('/within', message, fix);
}

function refused(path: string, message: string, fix: string): Failure {
  const why = `${path} ${message}.`;
  return new Failure('invalid_definition', { what: 'The limiter was refused.', why, fix, faults: [{ path, message }] });
}

function pastedRule(stanza: string, location: unknown): RuleDefinition {
  const { limiters } = limitFiles().readStanza(stanza);
  const names = limiters.map(({ name }) => name ?? 'the stanza');
  const asked = limiters.filter(({ name }) => location === undefined || name === location);
  if (asked.length !== 1)
    throw new Failure('invalid_definition', {
      what:
        location === undefined
          ? `There are ${limiters.length} limiters in it.`
          : `There is no one ${String(location)} in it.`,
      why: `Each place has its own: ${names.join('; ')}.`,
      fix: `Name one: … at ${names[0]}. \`weir limiter\` shows all.`,
    });
  return together(asked[0]!.limits.map(likeRule), 'and');
}

function allOf(limiters: readonly Readonly<Record<string, unknown>>[], cycleMs: number): RuleDefinition {
  const windows = limiters.filter((one) => 'threshold' in one || 'within' in one);
  if (windows.length > 0 && windows.length < limiters.length)
    throw notTogether('A window counts requests that others refuse, and a rule does not.');
  const rules = limiters.map((one, index) => {
    refuseNearLimit(one, `/and/${index}`);
    return definitionOf(one, cycleMs);
  });
  const holds = new Set(rules.flatMap(({ hold_ms }) => hold_ms ?? []));
  if (holds.size > 1)
    throw notTogether(`A request is in flight for one time, and not for ${[...holds].join(' and ')} ms.`);
  const [hold_ms] = holds;
  const one = together(rules, windows.length > 0 ? 'and_all_charged' : 'and');
  return hold_ms === undefined ? one : { ...one, hold_ms };
}

/** A rule has no state nearing: only a contract that is one window has. @throws Failure `invalid_definition` */
export function refuseNearLimit(limiter: Readonly<Record<string, unknown>>, place: string): void {
  if (limiter['near_limit'] === undefined) return;
  const message =
    'has no effect here: only a contract that follows one window, and nothing else, has the state nearing';
  throw refused(`${place}/near_limit`, message, 'Leave out near_limit, or give the window alone.');
}

function together(rules: readonly RuleDefinition[], primitive: 'and' | 'and_all_charged'): RuleDefinition {
  if (rules.length === 1) return rules[0]!;
  const steps = rules.map(({ clock_resolution_ms = 0 }) => clock_resolution_ms);
  const step = Math.max(...steps);
  // Resolutions below 1 ms do not matter to either rule.
  if (step > 1 && steps.some((one) => one !== step))
    throw notTogether(`Their clocks have steps of ${steps.join(' and ')} ms.`);
  const of = rules.map(({ primitive, params, counts }) => ({ primitive, params, ...(counts && { counts }) }));
  return checkRule({
    primitive,
    params: { of },
    ...(step > 0 && { clock_resolution_ms: step }),
    ...(rules.some(({ announces }) => announces !== undefined) && { announces: { wait: 'none' } }),
  });
}

function notTogether(why: string): Failure {
  const what = 'These limiters cannot be one.';
  return new Failure('invalid_definition', {
    what,
    why,
    fix: 'Give one of them.',
    faults: [{ path: '', message: why }],
  });
}

function exampleOf(like: string): string {
  const { name, product } = productOf(like);
  return `For example: ${namedText(name, product.example)}.`;
}

/** What a limiter that was refused should be. */
export function limiterAdvice(limiter: unknown): string {
  const { like, primitive } = (limiter ?? {}) as { readonly like?: unknown; readonly primitive?: unknown };
  if (typeof like === 'string' && productNames.includes(like)) return exampleOf(like);
  if (typeof primitive === 'string') return ruleAdvice(limiter);
  return "Give a text as '100 in 60s', { primitive, params }, { like, … }, { paste } or { threshold, within }; `weir limiter` lists products.";
}

function likeRule({ like, ...given }: Readonly<Record<string, unknown>>): RuleDefinition {
  const { name, product } = productOf(String(like));
  const faults = valueFaults(product.params, given);
  if (faults.length > 0) {
    throw new Failure('invalid_definition', {
      what: `The parameters of ${name} do not fit.`,
      why: `${faults[0]!.path} ${faults[0]!.message}.`,
      fix: exampleOf(String(like)),
      faults,
    });
  }
  return checkRule(product.rule(given));
}
