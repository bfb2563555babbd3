// `weir client undici`: how a client library retries and reacts to failures and limiters; without a name, lists all.
import { type ClientLibrary, clientLibraries } from '../harness/clients/libraries.js';
import type { RetrySpec } from '../harness/clients/retry-schema.js';
import { choice, command } from '../report/command/command.js';
import { jsonOf } from '../report/command/options.js';
import { type Printed, print } from '../report/command/print.js';
import { facts, terminalAtHand } from '../report/command/terminal.js';
import { column, type RunColumn, rowName, runTable } from '../report/run-table.js';
import { blocksText } from '../report/terminal-blocks.js';

type LibraryName = keyof typeof clientLibraries;

const names = Object.keys(clientLibraries) as LibraryName[];

const options = {
  name: choice(names, 'the library', {
    place: true,
    takes: 'a library that is known',
    otherwise: '`weir client` lists them.',
  }),
  json: jsonOf('client'),
};

export const client = command({
  options,
  examples: [
    ['client', 'all libraries, and how each retries'],
    ['client aws-sdk-2026', 'one of them: attempts at failures, and what a limiter sees of a burst'],
  ],
  run: async ({ name, json }) => {
    print(name === undefined ? listed() : await clientProfile(name, clientLibraries[name]), json);
  },
});

function listed(): Printed {
  const rows = Object.entries(clientLibraries).map(([name, library]) => ({ name, ...library }));
  const below = '`weir client <name>` says more. In a scenario: `clients: [{ like: <name> }]`.';
  return { answer: { clients: rows }, words: `${blocksText([runTable(columns, rows)], terminalAtHand())}\n\n${below}` };
}

interface ListedClient extends ClientLibrary {
  readonly name: string;
}

const columns: readonly RunColumn<ListedClient>[] = [
  rowName('name', ({ name }) => name),
  { ...column('attempts', ({ client }) => client.max_attempts ?? 3, String), side: 'left' },
  column('waits', ({ client }) => waitWords(client)),
  column('jitter', ({ client }) => jitterOf(client)),
  column('Retry-After', ({ client }) => adviceWords(client)),
  column('held to', ({ held }) => (held === 'run' ? 'the library' : 'documents')),
  column('library', ({ library }) => library),
];

function waitWords({ backoff = { policy: 'none' } }: RetrySpec): string {
  const { policy, base = '100ms', cap, first } = backoff;
  if (policy === 'none') return 'at once';
  const growth = policy === 'fixed' || policy === 'linear' ? policy : 'exponential';
  const words = [
    `${growth} from ${base}`,
    cap === undefined ? undefined : `at most ${cap}`,
    first === 0 ? 'the first at once' : undefined,
  ];
  return words.filter((word) => word !== undefined).join(', ');
}

const jitterOfPolicy: Readonly<Record<string, string>> = {
  full_jitter: 'full',
  equal_jitter: 'equal',
  decorrelated: 'decorrelated',
};

function jitterOf({ backoff = { policy: 'none' } }: RetrySpec): string {
  const { policy, shorten_by: shorter = 0, lengthen_by: longer = 0, add, jitter } = backoff;
  const ofPolicy = jitter ?? jitterOfPolicy[policy];
  if (ofPolicy !== undefined) return ofPolicy;
  if (shorter === 1) return 'full';
  if (shorter === 0.5) return 'equal';
  if (shorter > 0) return `up to ${100 * shorter} % shorter`;
  if (longer > 0) return `up to ${100 * longer} % longer`;
  return add === undefined ? 'none' : `up to ${add} longer`;
}

const adviceTaken = {
  ignore: 'ignored',
  obey: 'waits as announced',
  floor: 'at least as announced',
  clamp: 'at least as announced',
} as const;

const longerAdvice = { cap: 'at most', ignore: 'ignored above', stop: 'gives up above' } as const;

function adviceWords({ retry_after: advice = 'ignore' }: RetrySpec): string {
  const { policy, limit, above, zero, slack, missing } = typeof advice === 'string' ? { policy: advice } : advice;
  const slackWords = policy === 'clamp' ? `, at most ${slack ?? '5s'} more than its own` : '';
  const limitWords = limit === undefined ? '' : `, ${longerAdvice[above ?? 'cap']} ${limit}`;
  const missingWords = missing === 'stop' ? '; gives up if nothing is announced' : '';
  return `${adviceTaken[policy]}${zero === 'backoff' ? ' above 0' : ''}${slackWords}${limitWords}${missingWords}`;
}

const SHARES = [0.1, 0.3, 0.5, 1];
const BURST = 100;
const MOST_BINS = 12;
const WIDTH = 40;

async function clientProfile(name: string, { library, held, client }: ClientLibrary) {
  const { yamlText } = await import('../core/schema/document.js');
  const atFailures = [];
  for (const share of SHARES) atFailures.push({ share, attempts: (await run(failing(name, share))).amplification });
  const burst = await run(bursting(name));
  const answer = { name, library, held, client, at_failures: atFailures, burst };
  const words = [
    `${name}: ${library}`,
    facts([
      ['held to', held === 'run' ? 'the library itself, by a test' : held],
      [
        'attempts of a job',
        `${atFailures.map(({ share, attempts }) => `${attempts.toFixed(2)} where ${100 * share} % fail`).join(', ')}`,
      ],
      [
        `${BURST} at once`,
        `at a limiter of 10/s with a burst of 10: ${burst.attempts} attempts, ${burst.succeeded} served, ${burst.givenUp} given up, the last attempt after ${(burst.lastMs / 1000).toFixed(1)} s`,
      ],
    ]),
    'Attempts of that burst, by time:',
    histogram(burst.sentMs, burst.lastMs),
    `In a scenario \`clients: [{ like: ${name} }]\` is short for:`,
    yamlText({ clients: [{ kind: 'retrying', ...client }] }).trimEnd(),
  ];
  return { answer, words: words.join('\n\n') };
}

function failing(like: string, share: number): object {
  return {
    question: 'How often does it try?',
    duration: '30s',
    drain: '10m',
    limiter: { threshold: 1_000_000, within: 60 },
    arrivals: [{ model: 'poisson', rate: '20/s' }],
    clients: [{ like }],
    service: { servers: 10_000, time: '1ms', fails: share },
  };
}

function bursting(like: string): object {
  return {
    question: 'What does a limiter see of a burst?',
    duration: '1s',
    drain: '10m',
    limiter: 'gcra 10/s burst=10',
    arrivals: [{ model: 'spikes', requests: BURST, placement: 'start' }],
    clients: [{ like }],
  };
}

async function run(scenario: object) {
  const [{ parseScenario }, { journeyRecorder }, { simulate }, { startOf }] = await Promise.all([
    import('../harness/scenario/load-scenario.js'),
    import('../harness/simulate/journeys.js'),
    import('../harness/simulate/simulate.js'),
    import('../core/time/cycle.js'),
  ]);
  const loaded = parseScenario(JSON.stringify(scenario), 'client.yaml');
  const journeys = journeyRecorder();
  const { outcome } = await simulate(loaded, { journeys });
  const [{ attempts, succeeded, given_up, retry_amplification }] = outcome.clients as [
    NonNullable<typeof outcome.clients>[number],
  ];
  const startMs = startOf(loaded.startCycle, loaded.cycleMs);
  const sentMs = journeys.journeys.decidedMs.map((ms) => ms - startMs);
  return {
    attempts,
    succeeded,
    givenUp: given_up,
    amplification: retry_amplification,
    sentMs,
    lastMs: sentMs.at(-1) ?? 0,
  };
}

function histogram(sentMs: readonly number[], lastMs: number): string {
  const binMs = Math.max(100, Math.ceil(lastMs / MOST_BINS / 100) * 100);
  const counts = new Array<number>(Math.floor(lastMs / binMs) + 1).fill(0);
  for (const ms of sentMs) counts[Math.floor(ms / binMs)]! += 1;
  const most = Math.max(...counts);
  return counts
    .map((n, index) => {
      const bar = '#'.repeat(Math.max(n > 0 ? 1 : 0, Math.round((WIDTH * n) / most)));
      return `  ${`${((index * binMs) / 1000).toFixed(1)} s`.padStart(8)}  ${bar.padEnd(WIDTH)}  ${n}`;
    })
    .join('\n');
}
