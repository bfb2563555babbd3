// The pages of `weir help fields`: each has what its schema says, and an example that the schema takes.
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { fieldPage, fieldPaths } from '../../../src/core/schema/field-reference.js';
import { Scenario } from '../../../src/harness/scenario/scenario-schema.js';
import { refusalOf } from '../../harness/scenario/reading.js';

const paths = fieldPaths(Scenario);
const exampleIn = (page: string) => parse(/```yaml\n(.*)\n```/s.exec(page)?.[1] ?? '');

it('the reference of fields has a page for choices at every depth', () => {
  expect(paths).toEqual(
    expect.arrayContaining([
      'arrivals.burst',
      'clients.retrying.backoff',
      'service.time.lognormal',
      'contracts.popularity.zipf',
      'faults.pause',
      'phases',
      'expect',
    ]),
  );
});

it.each(paths)('%s has an example that is valid', (path) => {
  const example = exampleIn(fieldPage(Scenario, path));
  expect(example).toHaveProperty(path.split('.')[0]!);
  // Closed clients think of their requests by themselves.
  const arrivals = path.startsWith('clients.closed') ? {} : { arrivals: [{ model: 'poisson', rate: 1 }] };
  // Only a service can be slow.
  const service = path.startsWith('faults.slow') ? { service: { time: '1ms' } } : {};
  const scenario: Record<string, unknown> = {
    ...{ question: 'Is it valid?', duration: '1m', ...arrivals, ...service, ...example },
  };
  // Only an answer that fails announces a Retry-After.
  if (path.startsWith('service.retry_after')) scenario['service'] = { ...(scenario['service'] as object), fails: 0.1 };
  expect(refusalOf(stringify(scenario))).toEqual([]);
});

it('the reference describes every choice and field of every page, and every choice on its own page', () => {
  const parents = paths.flatMap((path) => path.split('.').map((_, at, parts) => parts.slice(0, at).join('.')));
  const wordless = [...new Set([...parents, ...paths])].flatMap((path) => {
    const page = fieldPage(Scenario, path);
    const empty = page.split('\n').filter((line) => /^\| `[^`]*` \| *\|$/.test(line));
    const [, about = ''] = page.split('\n\n');
    return /^(?:\||```|$)/.test(about) && path !== '' ? [...empty, path] : empty;
  });
  expect(wordless).toEqual([]);
});

it('the reference says that the defaults of a library are its own', () => {
  const defaultsOf = (path: string) =>
    ['max_attempts', 'retries_on', 'retry_after'].map((name) => {
      const line = fieldPage(Scenario, path)
        .split('\n')
        .find((one) => one.startsWith(`| \`${name}\``));
      return /Default: ([^.|]*)\./.exec(line ?? '')?.[1];
    });
  expect(defaultsOf('clients.retrying')).toEqual(['3', 'all', 'ignore']);
  expect(defaultsOf('clients.like')).toEqual(Array(3).fill('that of the library'));
});

it('a page shows the fields of a choice, with what each takes', () => {
  const page = fieldPage(Scenario, 'arrivals.burst');
  expect(page).toContain('| `burst_rate` | Required. The rate during a burst.');
  expect(page).toContain('Default: exact. One of `exact`, `poisson`. |');
  expect(exampleIn(page)).toEqual({ arrivals: [{ model: 'burst', burst_rate: '50/s' }] });
  expect(page).not.toContain('`model`');
  expect(fieldPage(Scenario, 'phases')).toContain('| `to` | Required. When it is over');
  expect(fieldPage(Scenario, 'expect')).toContain('| `that` | Required. ');
  expect(fieldPage(Scenario, 'clients.retrying.backoff')).toMatch(/^\| `jitter` .* One of `exponential`\. \|$/m);
});

it('a page shows one field with the object around it', () => {
  const page = fieldPage(Scenario, 'clients.retrying.backoff.cap');
  expect(page).toContain('The longest pause, not below base.');
  expect(exampleIn(page)).toEqual({
    clients: [{ kind: 'retrying', backoff: { policy: 'none', cap: '10s' } }],
  });
});

it.each([
  ['/clients/0/retrying/backoff', 'clients.retrying.backoff'],
  ['clients[0].retrying.backoff', 'clients.retrying.backoff'],
  ['limiter.params', 'limiter.primitive.params'],
  ['limiter.threshold', 'limiter.threshold'],
  ['arrivals.burst_rate', 'arrivals.burst.burst_rate'],
  ['expect.*', 'expect'],
  ['.', 'Fields of a scenario'],
])('%s is the page %s: positions add nothing, nor a choice that alone has the field', (path, title) => {
  expect(fieldPage(Scenario, path).split('\n')[0]).toBe(`# ${title}`);
});

// biome-ignore format: one case a line
it.each([
    ['arivals', 'A scenario has no field "arivals".', 'Did you mean `weir help fields arrivals`?'],
    ['arrivals.bust', 'arrivals has no field "bust".', 'Did you mean `weir help fields arrivals.burst`?'],
    ['arrivals.burst.at.x', 'arrivals.burst.at has no field "x".', 'See `weir help fields arrivals.burst.at`.'],
    ['/arrivals/0/rate', 'arrivals has no field "rate" of its own.', 'Did you mean `weir help fields arrivals.constant.rate`?'],
    ['nginx', 'A scenario has no field "nginx".', 'Did you mean `weir help fields limiter.nginx`?'],
    ['burst_rat', 'A scenario has no field "burst_rat".', 'Did you mean `weir help fields arrivals.burst.burst_rate`?'],
    ['__proto__', 'A scenario has no field "__proto__".', 'See `weir help fields`.'],
  ])('%s is refused with what is there', (path, what, fix) => {
    expect(() => fieldPage(Scenario, path)).toThrow(expect.objectContaining({ what, fix }));
  });
