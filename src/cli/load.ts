// `weir load`: sends the requests of scenarios, or a rate to a URL, to a live target, with a line per cycle.
import { setFlagsFromString } from 'node:v8';
import type { RuleDefinition } from '../core/limiter/rule/rule-definition.js';
import { readText } from '../core/schema/text-file.js';
import type { LiveOptions } from '../harness/live/load.js';
import type { LoadedScenario } from '../harness/scenario/loaded-scenario.js';
import { type CommandLine, choice, command, type GivenTo, optionName, text, whole } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { stopSignal } from '../report/command/interrupt.js';
import { type GivenLimiter, LIMIT_WORDS, limiterGiven, limiterNotesOf } from '../report/command/limit.js';
import { header, liveOptions, liveOptionsOf, requestHeaders } from '../report/command/live-options.js';
import { jsonOf, limitedStatus, out, scenarios, seed, top } from '../report/command/options.js';
import { cycleLines } from '../report/command/progress.js';
import { say, warn } from '../report/command/say.js';
import type { Reported } from '../report/reported.js';

const request = (when: string) => ({
  header: header(`${when}a header of every request, as 'Name: value'; may be repeated`, { letter: 'H', local: true }),
  method: choice(
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'],
    `${when}the method (default: GET; with a body POST)`,
    { letter: 'm' },
  ),
  body: text(`${when}the body of every request, or @FILE`, { letter: 'd' }),
});

const options = {
  scenario: { ...scenarios, description: 'scenario files (YAML or JSON), or the URL of any HTTP service' },
  rate: text(
    'with a URL: the rate, for example 50/s or 300/min (default: 50/s); a plain number is per second; max: as fast as answers come, a closed loop',
  ),
  for: text('with a URL: the duration, for example 30s or 5m (default: 10s); a plain number is in seconds'),
  limit: text(`with a URL: the limiter that is predicted, and compared: ${LIMIT_WORDS}`),
  ...request('with a URL: '),
  limitedStatus,
  ...liveOptions,
  seed,
  workers: text('send from remote workers, a share from each, through this Redis: redis://host:6379', { local: true }),
  out,
  top,
  json: jsonOf('outcome', ', of several scenarios in an array'),
};

type Given = GivenTo<typeof options>;

export const load = command({
  options,
  examples: [
    [
      'load http://127.0.0.1:8080/ --rate 50/s --for 30s',
      'any HTTP service: statuses, latency, and the limit that is seen',
    ],
    [
      "load http://127.0.0.1:8080/ --rate 50/s --for 30s --limit 'nginx 10r/s burst=5'",
      'the same, compared with a prediction',
    ],
    ["load http://127.0.0.1:8080/ -m POST -H 'Content-Type: text/plain' -d hello", 'with a header and a body'],
    ['load http://127.0.0.1:8080/ --rate max -c 50', 'as fast as 50 connections can, as oha, hey and wrk'],
    ['load scenarios/burst.yaml', 'against a node started for the run, at full cycles'],
    ['load scenarios/burst.yaml --cycle-ms 50', 'the same in seconds'],
    ['load scenarios/*.yaml --url http://127.0.0.1:7770', 'against a node that runs already'],
    ['load scenarios/burst.yaml --url http://127.0.0.1:7771 --url http://127.0.0.1:7772', 'nodes of one network'],
    [
      'load scenarios/burst.yaml --url http://10.0.0.2:7770 --allow remote,plain-http --workers redis://10.0.0.1',
      'from many machines',
    ],
  ],
  run: async (given, line) => {
    const [{ loadScenario }, { mintKey }, { runAll }] = await Promise.all([
      import('../harness/scenario/load-scenario.js'),
      import('../harness/live/load.js'),
      import('./runs.js'),
    ]);
    // Slow answers make requests live long. V8 then pretenures them: 3 kB per request in old space until the next full
    // collection, and eight pauses of 10 ms a second instead of 3 ms. Only a command may set flags, not a library.
    setFlagsFromString('--no-allocation-site-pretenuring');
    const url = urlIn(given, line);
    const asked: Asked[] =
      url === undefined
        ? await Promise.all(given.scenario.map(async (path) => ({ path, scenario: await loadScenario(path) })))
        : [await askedOfUrl(url, given, given.limit === undefined ? undefined : await limiterGiven(given.limit))];
    const scenarios = asked.map(({ scenario }) => scenario);
    checkEffects(given, scenarios);
    const live = { ...liveOptionsOf(given), signal: stopSignal() };
    const sharesKey = live.url !== undefined && live.key === undefined;
    const isShared = sharesKey && scenarios.filter(({ target }) => target === undefined).length > 1;
    const common = isShared ? { ...live, key: await mintKey(live) } : live;
    const runOne = async (one: Asked) => ({ run: await loadOne(one, given, common) });
    const runs = await runAll(given, line, asked, runOne, '-live');
    const isLimited = runs.some(({ outcome }) => outcome.live?.answers?.limit);
    if (url !== undefined && isLimited && given.limit === undefined && !given.json)
      say(`\nweir identify ${url}  finds out which rule it follows, with which parameters\n`);
  },
});

const { url: _, cycleMs: __, ...sending } = liveOptions;

export const check = command({
  options: {
    url: text('the URL of any HTTP service', { place: true, required: true }),
    limit: text(`the limit: ${LIMIT_WORDS.replace(', none', '')}`, { place: true, required: true }),
    budget: whole(2, 100_000, 'maximum number of requests (default: as many as the test takes)'),
    ...request(''),
    limitedStatus,
    ...sending,
    out,
    json: jsonOf('outcome'),
  },
  examples: [
    ["check http://127.0.0.1:8080/ '60 in 60s'", 'any window of 60 s, wherever it begins'],
    ["check http://127.0.0.1:8080/ 'nginx 10r/s burst=5 nodelay' -H 'X-Api-Key: test'", 'a product, for one key'],
  ],
  more: 'See also: weir help assertion, for the same in a test.',
  run: async ({ url, ...given }, line) => {
    const [{ meantRules, testTraffic }, { memoryMs }, { runAll }] = await Promise.all([
      import('../harness/explain/meant-rules.js'),
      import('../harness/live/near-rules.js'),
      import('./runs.js'),
    ]);
    const rules = meantRules(await limiterGiven(given.limit));
    const traffic = testTraffic(rules, memoryMs(rules[0]!), given.budget);
    if (traffic === undefined)
      throw usageFailure(`To test ${given.limit} takes too many requests.`, 'Give a --budget.');
    const { cycleMs, counts } = traffic;
    const asked = await askedOfUrl(url, { ...given, cycleMs, rate: counts }, { ...rules[0]! });
    await runAll({ ...given, seed: undefined }, line, [asked], async (one) => ({
      run: await loadOne(one, given, { ...liveOptionsOf(given), signal: stopSignal() }, rules),
    }));
  },
});

const CLOSED_CONNECTIONS = 50;

interface Asked {
  readonly path: string;
  readonly scenario: LoadedScenario;
  readonly isOfUrl?: boolean;
  readonly isPredicted?: boolean;
  /** How many requests to send, for a URL at a rate. */
  readonly requests?: number | undefined;
}

const OF_URL = ['rate', 'for', 'limit', 'header', 'method', 'body', 'limitedStatus'] as const;

/** A host with a port, as `localhost:8080/path`: no file is called so. */
const HOST = /^[\w.-]+:\d{1,5}(\/.*)?$/;

/** A URL given instead of a scenario. @throws Failure `wrong_usage` for options without effect */
function urlIn(given: Given, line: CommandLine): string | undefined {
  const urls = given.scenario.filter((one) => /^https?:\/\//i.test(one));
  const refuse = (option: string, why: string) => {
    throw usageFailure(`--${option} has no effect ${why}.`, `Leave --${option} out.`);
  };
  if (urls.length === 0) {
    const [bare] = given.scenario.filter((one) => HOST.test(one));
    if (bare !== undefined)
      throw usageFailure(`${bare} is no scenario and no URL.`, `Write http://${bare}, or https://.`);
    for (const option of OF_URL)
      if (line.has(option))
        refuse(optionName(option), 'without a URL in the place of the scenario: a scenario says it itself');
    return undefined;
  }
  if (given.scenario.length > 1)
    throw usageFailure(
      'A URL is given alone.',
      'Run one after the other; nodes of one network: a scenario with --url.',
    );
  for (const option of ['url', 'seed', ...(given.rate === 'max' ? ['workers'] : [])])
    if (line.has(option)) refuse(option, 'with a URL in the place of the scenario');
  if (given.rate === 'max' && given.method === 'HEAD')
    throw usageFailure('--rate max sends no HEAD: it waits for bodies.', 'Give a rate, or use GET.');
  return urls[0];
}

type OfUrl = Pick<Given, 'connections' | 'method' | 'header' | 'body' | 'limitedStatus'> &
  Partial<Pick<Given, 'for' | 'cycleMs'>> & { readonly rate?: string | readonly number[] | undefined };

async function askedOfUrl(url: string, given: OfUrl, asked?: GivenLimiter): Promise<Asked> {
  const [{ parseScenario }, { scenarioOfUrl }, { windowsOf }] = await Promise.all([
    import('../harness/scenario/load-scenario.js'),
    import('../harness/live/url-scenario.js'),
    import('../core/limiter/products/limiter-spec.js'),
  ]);
  const limiter = asked?.['primitive'] === 'none' ? undefined : asked;
  const { scenario: document, requests } = scenarioOfUrl({
    url,
    rate: given.rate ?? '50/s',
    connections: given.connections ?? CLOSED_CONNECTIONS,
    duration: given.for ?? '10s',
    method: given.method,
    headers: requestHeaders(given.header),
    body: given.body === undefined ? undefined : bodyIn(given.body),
    limited: given.limitedStatus,
    limiter,
    windows: limiter === undefined ? [] : windowsOf(limiter),
    cycleMs: given.cycleMs,
  });
  const scenario = parseScenario(document, url);
  if (limiter !== undefined && !Array.isArray(given.rate))
    for (const note of await limiterNotesOf(limiter, scenario.cycleMs)) warn(`weir: ${note}\n`);
  return { path: url, scenario, isOfUrl: true, isPredicted: limiter !== undefined, requests };
}

function bodyIn(text: string): string {
  if (!text.startsWith('@')) return text;
  return readText(text.slice(1), {
    what: `The body ${text}`,
    fix: 'Check the path, or give the body itself.',
    isGiven: true,
  });
}

async function loadOne(
  { scenario, isOfUrl = false, isPredicted = true, requests }: Asked,
  given: Partial<Given>,
  live: LiveOptions,
  rules?: readonly RuleDefinition[],
): Promise<Reported> {
  const [{ followRows }, { load$, toResult }, { AnswerTally }] = await Promise.all([
    import('./runs.js'),
    import('../harness/live/load.js'),
    import('../harness/live/answer-tally.js'),
  ]);
  const seed = given.seed ?? scenario.seed;
  const { workers, top } = given;
  const rows = load$(scenario, {
    ...live,
    seed,
    // Its requests come at a constant rate in time, also within a cycle.
    byInstants: isOfUrl || undefined,
    requests,
    rules,
    top,
    workers: workers === undefined ? undefined : { redis: workers },
    answers: isOfUrl && workers === undefined ? new AnswerTally() : undefined,
    ...(isOfUrl && given.rate === 'max' && loopOf(given)),
  });
  const { observed, predicted, series } = await followRows(rows, cycleLines(scenario.name), toResult());
  const { timeline } = predicted;
  return { ...observed, ...(timeline === undefined || !isPredicted ? {} : { predicted: timeline }), series };
}

function loopOf({ connections = CLOSED_CONNECTIONS }: Partial<Given>) {
  return { closedLoop: connections, connections };
}

/** Some options have an effect only with certain scenarios. @throws Failure `wrong_usage` */
function checkEffects(given: Given, scenarios: readonly LoadedScenario[]): void {
  const isSentElsewhere = given.url !== undefined || scenarios.some(({ target }) => target?.url !== undefined);
  const refuse = (option: string, why: string) => {
    throw usageFailure(`--${option} has no effect: ${why}.`, `Leave --${option} out.`);
  };
  if (given.allow !== undefined && !isSentElsewhere)
    refuse('allow', 'the node is started on this machine; --url names another one');
}
