// The one language of limiters: what is understood, what is refused and where, and that nothing is lost between text and limiter.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { limitSentence } from '../../../../src/core/limiter/products/limit-sentence.js';
import { completeLimit, limitText, readLimit } from '../../../../src/core/limiter/products/limit-text.js';
import { checkLimiter, limiterDefinition } from '../../../../src/core/limiter/products/limiter-spec.js';
import { definitionOf, productNames, productOf, products } from '../../../../src/core/limiter/products/products.js';
import { primitives, RuleDefinition, ratePerMs } from '../../../../src/core/limiter/rule/rule-definition.js';
import { anyCharacter, forAll } from '../../../draws.js';
import { failureOf } from '../../../failures.js';
import { rules } from '../rule/every-rule.js';

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));
const refusal = (text: string): string => {
  const failure = failureOf(() => checkLimiter(readLimit(text)));
  return failure === undefined ? 'understood' : [failure.what, failure.why, failure.fix].join(' ');
};

// biome-ignore format: one case a line
it.each([
    ['100 in 60s', { threshold: 100, within: '60s' }],
    ['100 requests in 60 s', { threshold: 100, within: '60 s' }],
    ['100 in 60 cycles', { threshold: 100, within: 60 }],
    ['100 in 60', { threshold: 100, within: 60 }],
    ['100 per minute', { threshold: 100, within: '1 minute' }],
    ['100/min', { threshold: 100, within: '1 min' }],
    ['5 / 1h30m', { threshold: 5, within: '1h30m' }],
    ['100in60s', { threshold: 100, within: '60s' }],
    ['5r/s', { threshold: 5, within: '1 s' }],
    ['1000 req / day', { threshold: 1000, within: '1 day' }],
    ['20 calls per 2 weeks', { threshold: 20, within: '2 weeks' }],
    ['100 requests a minute', { threshold: 100, within: '1 minute' }],
    ['5 times in one hour', { threshold: 5, within: '1 hour' }],
    ['20 queries every 10s', { threshold: 20, within: '10s' }],
    ['20 within 1 min', { threshold: 20, within: '1 min' }],
    ['60 rpm and 9000 tpm', { and: [{ threshold: 60, within: '1 m', counts: 'requests' }, { threshold: 9000, within: '1 m' }] }],
    ['5 rps', { threshold: 5, within: '1 s' }],
    ['300rpm shadow', { threshold: 300, within: '1 m', shadow: true }],
    ['rolling count 100 in 1d', { threshold: 100, within: '1d' }],
    ['100 in 60 shadow', { threshold: 100, within: 60, shadow: true }],
    ['NGINX 10r/s', { like: 'nginx', rate: '10r/s' }],
    ['Token bucket 10/s burst 20', { primitive: 'token_bucket', params: { rate: 10, per_ms: 1000, capacity: 20 } }],
    ['sliding log 100 in 1 min', { primitive: 'sliding_log', params: { limit: 100, window_ms: 60_000 } }],
    ['concurrency 3', { primitive: 'concurrency', params: { limit: 3 } }],
    ['5 in 1 h 30 min near_limit=0.8 shadow', { threshold: 5, within: '1 h 30 min', near_limit: 0.8, shadow: true }],
    ['  nginx  10r/s burst=5 nodelay ', { like: 'nginx', rate: '10r/s', burst: 5, nodelay: true }],
    ['nginx 10r/s 5', { like: 'nginx', rate: '10r/s', burst: 5 }],
    ['nginx rate 10r/s burst 5', { like: 'nginx', rate: '10r/s', burst: 5 }],
    ['nginx burst=5 10r/s nodelay=false', { like: 'nginx', rate: '10r/s', burst: 5, nodelay: false }],
    ['nginx-limit-conn 10 hold=1s', { like: 'nginx-limit-conn', connections: 10, hold_ms: 1000 }],
    ['fastify max=10 timeWindow="1 second"', { like: 'fastify', max: 10, timeWindow: '1 second' }],
    ['@fastify/rate-limit max=10 timeWindow=1000', { like: '@fastify/rate-limit', max: 10, timeWindow: 1000 }],
    ['haproxy 100 in 10s', { like: 'haproxy', period: '10s', limit: 100 }],
    ['express-rate-limit 100 in 15 min', { like: 'express-rate-limit', windowMs: '15 min', limit: 100 }],
    ['nginx 100 per minute burst=5', { like: 'nginx', rate: '100r/m', burst: 5 }],
    ['nginx 120 in 2 s nodelay', { like: 'nginx', rate: '60r/s', nodelay: true }],
    ['envoy 100/min', { like: 'envoy', max_tokens: 100, tokens_per_fill: 100, fill_interval: '1 min' }],
    ['kong 100/h minute=5', { like: 'kong', minute: 5, hour: 100 }],
    ['envoy-ratelimit 100/min', { like: 'envoy-ratelimit', requests_per_unit: 100, unit: 'minute' }],
    ['laravel 60 in 1 min', { like: 'laravel', maxAttempts: 60, decaySeconds: 60 }],
    ['upstash slidingWindow 10 in 10s', { like: 'upstash', algorithm: 'slidingWindow', tokens: 10, window: '10s' }],
    ['x-time 600/min burst=3', { like: 'x-time', limit: 10, burst: 3 }],
    ['flask-limiter 10/minute', { like: 'flask-limiter', rate: '10 per 1 minute' }],
    ['gcra 10/s burst 20', { primitive: 'gcra', params: { T_ms: 100, tau_ms: 2000 } }],
    ['gcra T=100ms burst=5', { primitive: 'gcra', params: { T_ms: 100, tau_ms: 500 } }],
    ['token-bucket 100 per minute burst=20', { primitive: 'token_bucket', params: { rate: 100, per_ms: 60_000, capacity: 20 } }],
    ['sliding_log 100 in 1 min', { primitive: 'sliding_log', params: { limit: 100, window_ms: 60_000 } }],
    ['nginx_limit_req 10/s burst=5', { primitive: 'nginx_limit_req', params: { rate_1000: 10_000, burst: 5 } }],
    ['concurrency limit=3 hold=50ms', { primitive: 'concurrency', params: { limit: 3 }, hold_ms: 50 }],
    ['none', { primitive: 'none', params: {} }],
    ['10 in 1s and 100 in 60s', { and: [{ threshold: 10, within: '1s' }, { threshold: 100, within: '60s' }] }],
    ['and of=[{"primitive": "gcra", "params": {"T_ms": 1, "tau_ms": 0}}]',
      { primitive: 'and', params: { of: [{ primitive: 'gcra', params: { T_ms: 1, tau_ms: 0 } }] } }],
    ['limit_req_zone $host zone=a:1m rate=1r/s; location /api { limit_req zone=a; } at location /api',
      { paste: 'limit_req_zone $host zone=a:1m rate=1r/s; location /api { limit_req zone=a; }', location: 'location /api' }],
  ])('a limiter is read from its text: %s', (text, limiter) => {
    expect(plain(readLimit(text))).toEqual(limiter);
    expect(refusal(text)).toBe('understood');
  });

it.each([
  ['', /It is empty/],
  ['100', /"100" at character 1: it does not say in what time/],
  ['100 in', /"100" at character 1: it does not say in what time/],
  ['100 in 60x', /at character 1: "60x" is no time: "x" is no unit of time/],
  ['1.5 in 60s', /"1.5" at character 1: it is no whole number of requests\. Write '3 in 120s'/],
  ['0.5/s', /it is no whole number of requests\. Write '1 in 2s'/],
  ['0.33333/s', /it is no whole number of requests\. Give a longer time/],
  ['100 in 1 fortnight', /"1 fortnight" is no time: "fortnight" is no unit of time/],
  ['20 concurrent', /it does not say in what time.* 'concurrency 20'/],
  ['10/s burst 20', /"burst" at character 6: a window has no burst.* Write 'token_bucket 10\/s burst=20'/],
  ['10 in 1 s burst=5', /a window has no burst.* 'gcra 10 in 1 s burst=5'/],
  ['bucket 10/s', /no limiter is called so\. Did you mean token_bucket or token_bucket_and_interval/],
  ['sliding window 10/s', /no limiter is called so\. Did you mean sliding_log or sliding_log_block or sliding_counter/],
  ['concurrency 3 4', /"4" at character 15: concurrency has no such parameter\. It has limit/],
  ['-5 in 60s', /"-5" at character 1: a limit admits one request or more/],
  ['gcra 0/s burst=5', /"0\/s" at character 6: a limit admits one request or more/],
  ['leaky_queue 0/s', /"0\/s" at character 13: a limit admits one request or more/],
  ['0 in 60s', /"0" at character 1: a limit admits one request or more/],
  ['100 in 60s, 10 in 1s', /limits are joined by "and"\. Write '100 in 60s and 10 in 1s'/],
  ['1000/hour per client', /"per" at character 11: whom a limit is for is said beside it\. Give --key/],
  ['100 in 60s shadw', /"shadw" at character 12: A window has no such parameter\. Did you mean "shadow"\?/],
  ['100 in 60s and', /Nothing follows the last "and"/],
  ['100 in 60s and 5 in 1s shadow', /"shadow" at character 24: A window has no such parameter/],
  ['ngnix 10r/s', /"ngnix" at character 1: no limiter is called so\. Did you mean nginx\?/],
  ['nginx.con', /no limiter is called so; a file ends in .conf/],
  ['nginx 10r/s brust=5', /"brust=5" at character 13: nginx has no such parameter\. Did you mean "burst"\?/],
  ['nginx 10r/s 5 true 3 4', /"4" at character 22: nginx has no such parameter\. It has rate, burst/],
  ['nginx 10r/s rate=5r/s', /rate is given twice/],
  ['kong 100 in 5 min', /"100" at character 6: the product has no such time/],
  ['nginx 1/h', /the product has no such time/],
  ['haproxy 100 in 10s limit=5', /limit is given twice/],
  ['haproxy 100 in 10x', /"10x" is no time/],
  ['nginx 10r/s burst=', /"burst=" at character 13: its value is missing/],
  ['nginx 10r/s burst=5 burst=6', /"burst=6" at character 21: burst is given twice/],
  ['nginx 10r/s burst=5 nodelai', /"nodelai" at character 21: nginx has no such parameter/],
  ['nginx 10 burst=5', /\/rate must/],
  ['gcra 10/s T=1s', /T_ms is given twice/],
  ['gcra 10 in 60 cycles burst=1', /a rule takes a time with a unit/],
  ['gcra 10/s burst 20 nodelay', /"nodelay" at character 20: gcra has no such parameter/],
  ['concurrency 10/s', /"10\/s" at character 13: concurrency has no such parameter\. It has limit/],
  ['or a={"primitive": "gcra"', /It does not end|it does not end/],
  ['or a={x}', /"a=\{x\}" at character 4: it is not JSON/],
  ['1e9 in 1s', /"1e9" at character 1: the number is to be written in digits/],
  ['10,000 in 60s', /"10,000" at character 1: the number is to be written in digits/],
  ['10_000 in 60s', /"10_000" at character 1: the number is to be written in digits/],
  ['100k in 60s', /"100k" at character 1: the number is to be written in digits/],
  ['1000000001 in 60s', /no window holds as many requests.*at most 1000000000/i],
  ['99999999999999999999 in 60s', /no window holds as many requests.*at most 1000000000/i],
  ['100 in -1s', /"100" at character 1: "-1s" is no time: it is negative/],
  ['1k/min', /"1k\/min" at character 1: the number is to be written in digits/],
  ['ten per second', /"ten" at character 1: the number is to be written in digits/],
  ['at most 100 per minute', /a limit begins with its number\. Write '100 per minute'/],
  ['unlimited', /Write 'none'/],
  ['leaky-bucket 10/s', /Did you mean leaky_queue\?/],
  ['10/s & 100/min', /limits are joined by "and"\. Write '10\/s and 100\/min'/],
  ['10/s 20/s', /"20\/s" at character 6: two limits need a word between them.*'10\/s and 20\/s'/i],
  ['fixed_window 5 in 4000000d', /"4000000d" is no time/],
  ['10 in 1s and 1000000 in 30d', /and a window has at most 100000/],
  ['100 in 60s and nginx 10r/s', /A window counts requests that others refuse/],
  ['=5', /no limiter is called so|begins with its name/],
  ['rate=5', /"rate=5" at character 1: a limiter begins with its name/],
])('a text is refused with the reason: %s', (text, why) => {
  expect(refusal(text)).toMatch(why);
});

// biome-ignore format: one case a line
it.each([
    ['gcra 1 in 3s', 'gcra needs a burst: gcra 1 in 3s burst=1'],
    ['gcra burst 5', 'gcra needs a rate: gcra 10/s burst 5'],
    ['token bucket', 'token_bucket needs a rate and a burst: token bucket 10/s burst=20'],
    ['Token-Bucket 5/s initial=0', 'token_bucket needs a burst: Token-Bucket 5/s initial=0 burst=5'],
    ['token_bucket rate=5 capacity=5', 'token_bucket needs per_ms: token_bucket rate=5 capacity=5 per_ms=1000'],
    ['segmented-window 5 in 10s', 'segmented_window needs segments: segmented-window 5 in 10s segments=4'],
    ['many_nodes nodes=2', 'many_nodes needs design: many_nodes nodes=2 design=exact'],
    ['sliding_log 5/s and gcra 10/s', 'gcra needs a burst: gcra 10/s burst=10'],
    ['nginx burst=5 nodelay', 'nginx needs rate: nginx burst=5 nodelay rate=10r/s'],
    ['kong', 'kong needs a parameter: kong second=10'],
  ])('the refusal of %s names all that is missing, and how to write it', (text, message) => {
    expect(failureOf(() => completeLimit(text))).toMatchObject({
      what: expect.stringContaining('is not complete'),
      faults: [{ path: '', message }],
    });
    expect(failureOf(() => checkLimiter(text))?.faults).toEqual([{ path: '', message }]);
  });

it.each([...Object.keys(primitives), ...Object.keys(products)])(
  'the name %s alone is a limiter, or its refusal says how to complete it',
  (name) => {
    const failure = failureOf(() => completeLimit(name));
    const text = failure === undefined ? name : /^Write '(.*)'\.$/.exec(failure.fix!)?.[1];
    expect(refusal(text!)).toBe('understood');
  },
);

it('no parameter of a rule has the name of a field beside the parameters', () => {
  const outer = Object.keys(RuleDefinition.properties);
  for (const { params } of Object.values(primitives))
    expect(
      Object.keys((params as unknown as { properties: object }).properties).filter((name) => outer.includes(name)),
    ).toEqual([]);
});

it('no rule has the name of a product', () => {
  expect(Object.keys(primitives).filter((name) => productNames.includes(name))).toEqual([]);
});

const back = (limiter: object) => plain(readLimit(limitText({ ...limiter })));

it.each(Object.entries(rules))('the rule %s comes back from its text', (_, rule) => {
  expect(back(rule)).toEqual(plain(rule));
  expect(limiterDefinition(readLimit(limitText(rule)), 777)).toEqual(limiterDefinition(rule, 777));
});

it.each(Object.entries(products))('the product %s comes back from its text', (name, { example, rule }) => {
  expect(back({ like: name, ...example })).toEqual({ like: name, ...example });
  expect(definitionOf(readLimit(limitText({ like: name, ...example })), 777)).toEqual(rule(example));
});

/** Values as schemas of parameters have them: texts with blanks, quotes and signs of the language, and what looks like a number. */
const value = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => (Object.is(one, -0) ? 0 : one)),
  fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }).filter((one) => !/[;}]$/.test(one)),
  fc.constantFrom('and', 'true', '5', 'a=b', '{', '"', '[1]', '1 second', '\\', ' '),
  fc.array(fc.record({ primitive: fc.string(), params: fc.dictionary(fc.string(), fc.jsonValue()) }), {
    maxLength: 2,
  }),
);

it('any values of the parameters of any product come back from their text', () => {
  const given = fc.constantFrom(...productNames).chain((like) => {
    const { properties } = productOf(like).product.params as unknown as {
      properties: Record<string, { type?: string }>;
    };
    const fields = Object.entries(properties).map(([name, { type }]) => [
      name,
      type === 'string'
        ? fc.string({ minLength: 1, maxLength: 20 }).filter((one) => !/[;}]$/.test(one))
        : type === 'boolean'
          ? fc.boolean()
          : value,
    ]);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [] }).map((some) => ({ like, ...plain(some) }));
  });
  forAll([given], 2000, (limiter) => {
    expect(back(limiter)).toEqual(limiter);
  });
});

it('any windows come back from their text', () => {
  const window = fc.record({
    threshold: fc.integer({ min: 1, max: 1e9 }),
    within: fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom('1s', '90 min', '1h30m', '250ms', '2 d')),
  });
  const more = fc.record(
    { near_limit: fc.double({ min: 0.01, max: 0.99, noNaN: true }), shadow: fc.constant(true) },
    { requiredKeys: [] },
  );
  forAll([window, more], (one, other) => {
    expect(back({ ...one, ...other })).toEqual(plain({ ...one, ...other }));
  });
  forAll([fc.array(window, { minLength: 2, maxLength: 4 })], (and) => {
    expect(back({ and })).toEqual({ and });
  });
});

it.each(Object.entries(products).flatMap(([name, { paced }]) => (paced === undefined ? [] : [name])))(
  '%s takes one a second for its rate, in the times that it has',
  (name) => {
    const { paced, example } = products[name]!;
    const others = Object.entries(example).filter(([field]) => !(field in paced!(1, '1s')) && field !== 'second');
    const texts = ['1/s', '60 in 1 min', '86400 per day'].map(
      (pace) => `${limitText({ like: name, ...Object.fromEntries(others) })} ${pace}`,
    );
    const understood = texts.filter((text) => refusal(text) === 'understood');
    expect(understood).not.toEqual([]);
    for (const text of understood) expect(ratePerMs(definitionOf(readLimit(text), 777)), text).toBeCloseTo(0.001, 9);
  },
);

const words = fc.constantFrom(
  ...'100 in 60s / 10/s per and nginx 10r/s burst=5 burst nodelay gcra T=1s none = " { } [ ; limit_req zone=a'.split(
    ' ',
  ),
  ...'at location __proto__ __proto__=1 constructor 1e999 -1 0 true \\ é hold=1s of=[]'.split(' '),
  '\n',
);
const text = fc.oneof(
  fc.array(words, { maxLength: 10 }).map((some) => some.join(' ')),
  fc.string({ unit: anyCharacter, maxLength: 60 }),
);

it('any text is a limiter or is refused with a failure', () => {
  forAll([text], 5000, (one) => {
    expect(typeof refusal(one)).toBe('string');
  });
});

it('a word that is added to a text changes the limiter or is refused, but for words that say nothing', () => {
  const known = [
    '100 in 60s near_limit=0.5',
    'nginx 10r/s burst=5 nodelay',
    'gcra 10/s burst=20',
    'fixed_window 10 in 1s count_refused',
    'varnish 10 1s 2s',
    '10 in 1s and 5 in 2s',
  ];
  const any = fc.tuple(
    fc.constantFrom(...known),
    fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme-ascii' }),
    fc.nat(),
  );
  const isSame = (a: string, b: string) => JSON.stringify(readLimit(a)) === JSON.stringify(readLimit(b));
  forAll([any], 5000, ([limiter, added, at]) => {
    fc.pre(added.trim() !== '');
    const parts = limiter.split(' ');
    parts.splice(at % (parts.length + 1), 0, added.trim());
    const changed = parts.join(' ');
    if (refusal(changed) !== 'understood') return;
    // They say nothing else: "requests", a plus sign, and no time more.
    const saysNothing = /requests?|^(r|reqs?|q|quer(?:y|ies)|calls?|hits?|times)$|\+|^0+\s*\p{L}+$/iu;
    expect(isSame(changed, limiter) && !saysNothing.test(added.trim())).toBe(false);
  });
});

// biome-ignore format: one case a line
it.each([
  ['100 in 60s', 500, '100 in 60s: 100 requests in a rolling window of 60 s, 120 cycles of 500 ms; refused requests count'],
  ['nginx 10r/s burst=5', 777, 'nginx rate=10r/s burst=5: a new client gets 6 at once, 10/s in the long run'],
  ['gcra 100 in 1h burst=20', 777, 'gcra T_ms=36000 tau_ms=720000: a new client gets 21 at once, 1.667/min in the long run'],
  ['haproxy 100 in 10s', 777, 'haproxy period=10s limit=100: a new client gets 100 at once, up to 10/s in the long run; refused requests count'],
  ['varnish 10 1s 0s', 777, 'varnish limit=10 period=1s block=0s: a new client gets 10 at once, 10/s in the long run'],
  ['varnish 10 1s 2s', 777, 'varnish limit=10 period=1s block=2s: a new client gets 10 at once, up to 10/s in the long run; a refusal blocks'],
  ['concurrency limit=3', 777, 'concurrency limit=3: a new client gets 3 at once'],
  ['none', 777, 'none: refuses nothing'],
])('%s is said as it was understood', (text, cycleMs, sentence) => {
  expect(limitSentence(readLimit(text), cycleMs)).toBe(sentence);
});
