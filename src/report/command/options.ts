// Options shared by several commands, so that they mean the same everywhere.
import { seedOf } from '../../core/math/seed.js';
import { Failure } from '../../core/schema/failure.js';
import { cycleMsFor, nearestWindow, parseTime, parseTimeMs } from '../../core/schema/quantity.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import { type About, flag, several, text, value, whole } from './command.js';
import { usageFailure } from './exit-codes.js';
import { warn } from './say.js';

/** @param schema name of the schema of what is printed, in the folder `schema` of the package */
export const jsonOf = (schema: string, of = '') =>
  flag(`print JSON, for programs${of}: schema/${schema}.schema.json`, { local: true });

export const scenarios = several(text('scenario files (YAML or JSON)', { place: true, required: true }));

export const seed = value(
  'a whole number from 0 on, or a seed that a run has named',
  seedOf,
  'instead of the seed of the scenario: a whole number, or one that a run has named, such as 77/2',
);

/** Endings of files that people expect what they name from. */
const FILE = /\.(csv|gif|html?|jpe?g|json|md|ndjson|pdf|png|svg|txt|xml|ya?ml)$/i;

/** `--out`: a file with another ending than these would not be what its name says. @param endings none for a folder */
export function outAs<const Said extends About>(endings: readonly string[], description: string, said = {} as Said) {
  const folder = endings.length === 1 ? [] : ['a folder'];
  const file = endings.length === 0 ? [] : [`a name that ends with .${endings.join(', .')}`];
  const fits = (text: string) => endings.some((ending) => text.endsWith(`.${ending}`)) || !FILE.test(text);
  return value([...folder, ...file].join(', or '), (text) => (fits(text) ? text : undefined), description, said);
}

export const outFor = (usual: string) => ({
  ...outAs([], `folder for the report, or none (default: ${usual})`, { local: true }),
  otherwise: 'A report has files of each kind; of a run, `weir report FOLDER --out summary.md` writes one.',
});
export const out = outFor('reports/<scenario>/<seed>');

export const NONE = 'none';

export const port = whole(0, 65_535, 'loopback port (0: a free one)', { default: 0, local: true });

/** Parses a duration into whole cycles: `60`, `60 cycles`, `47s`. @throws Failure `wrong_usage` */
export function durationIn(option: string, text: string, cycleMs: number, least = 0): number {
  return timeFailure(option, text, () => parseTime(text, cycleMs, `--${option}`, least));
}

export function readMs(text: string, option: string): number {
  const written = /^\s*[\d.]+\s*$/.test(text) ? `${text}ms` : text;
  return timeFailure(option.replace(/^--/, ''), text, () => parseTimeMs(written, CYCLE_MS, option, 1));
}

function timeFailure<T>(option: string, text: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { why = error.message, fix = 'For example 60, 60 cycles or 47s.' } = error;
    throw new Failure('wrong_usage', { what: `--${option} takes a duration, not "${text}".`, why, fix });
  }
}

/** With its unit: 0.1 alone may be 0.1 % or a tenth. @throws Failure `wrong_usage` */
export function readShare(text: string): number | undefined {
  const [, number = '', sign = ''] = /^(\d+(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text) ?? [];
  if (number === '') return undefined;
  if (sign === '' && Number(number) > 0) {
    const tenth = Number(number) <= 1 ? ` or ${Number((100 * Number(number)).toPrecision(12))}%` : '';
    const what = tenth === '' ? `${number} is no share` : `${number} may be ${number}%${tenth}`;
    throw usageFailure(what, `Write ${number}%${tenth}.`);
  }
  // The exponent avoids a rounding error of division: 0.1% is 0.001.
  const share = Number(`${number}e-2`);
  return share <= 1 ? share : undefined;
}

export const MOST_CYCLE_MS = 86_400_000;

export const cycleMs = whole(
  1,
  MOST_CYCLE_MS,
  'length of a cycle in ms (default: 777; for windows written in time 500, or the longest up to 777 that divides them)',
);

export function cycleMsOf(given: number | undefined, windows: readonly (number | string | undefined)[]): number {
  return given ?? cycleMsFor(windows, CYCLE_MS);
}

/** Windows of `--within` in whole cycles, with notes on inexact ones. @throws Failure `wrong_usage` */
export function windowsIn(texts: readonly string[], cycleMs: number) {
  const cycles = texts.map((text) => durationIn('within', text, cycleMs, 1));
  const notes = texts.flatMap((text, index) => nearestWindow(text, cycles[index]!, cycleMs) ?? []);
  return { cycles, notes: [...new Set(notes)] };
}

export const top = whole(1, Number.MAX_SAFE_INTEGER, 'how many contracts the outcome lists; totals cover all', {
  default: 100,
});

export const workers = value(
  'a number of threads from 1 to 1024, or redis://host:6379',
  (text) => (/^\d+$/.test(text) ? threadsIn(text) : text.includes('://') ? text : undefined),
  'threads (default: one for each core), or remote workers through a Redis: redis://host:6379',
  { local: true },
);

export const threads = value(
  'a number from 1 to 1024',
  threadsIn,
  'how many runs at once (default: one for each core)',
  { local: true },
);

function threadsIn(text: string): number | undefined {
  const threads = /^\d+$/.test(text) ? Number(text) : 0;
  return threads >= 1 && threads <= 1024 ? threads : undefined;
}

export function runPlace({ workers }: { readonly workers: number | string | undefined }) {
  const place = typeof workers === 'number' ? { threads: workers } : { workers };
  return { ...place, onNotice: (words: string) => warn(`weir: ${words}\n`) };
}

export const inputs = several(
  value(
    'name=number',
    (text) => {
      const [, name, number] = /^([^=]+)=(.+)$/.exec(text) ?? [];
      return name === undefined || !Number.isFinite(Number(number)) ? undefined : ([name, Number(number)] as const);
    },
    'an input as name=number; repeat for several',
  ),
);

/** Fields of a request body, named as in the API: `near_limit=0.8`, `keyed.overflow=share`. */
export function fields(examples: string) {
  return several(
    value(
      'field=value',
      (text) => /^([\w.]+)=(.*)$/s.exec(text)?.slice(1) as [string, string] | undefined,
      `a further field: ${examples}; repeat for several`,
    ),
  );
}

type Body = { [field: string]: never };

/** The node validates the body. A value is JSON if it parses, else text. @throws Failure `wrong_usage` */
export function bodyOf(given: readonly (readonly [path: string, value: string])[] = []): Body {
  const body: Record<string, unknown> = {};
  for (const [path, value] of given) {
    const steps = path.split('.');
    const last = steps.pop()!;
    let at = body;
    for (const step of steps) {
      const inner = Object.hasOwn(at, step) ? at[step] : {};
      if (typeof inner !== 'object' || inner === null)
        throw usageFailure(
          `--set ${path} is a field of what is set to ${JSON.stringify(inner)}.`,
          'Set one of the two.',
        );
      at[step] = inner;
      at = inner as Record<string, unknown>;
    }
    at[last] = jsonIn(value);
  }
  return body as Body;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function allow<const Kind extends string>(kinds: Readonly<Record<Kind, string>>) {
  const names = Object.keys(kinds) as Kind[];
  return value(
    `${names.join(' or ')}, with commas between`,
    (text) => (text.split(',').every((one) => names.includes(one as Kind)) ? (text.split(',') as Kind[]) : undefined),
    `allow ${names.map((name) => `${name} (${kinds[name]})`).join(', ')}`,
  );
}

export const limitedStatus = value(
  'statuses from 400 to 599',
  (text) => {
    const statuses = text.split(',').map(Number);
    return statuses.every((status) => Number.isInteger(status) && status >= 400 && status <= 599)
      ? statuses
      : undefined;
  },
  'with a URL: statuses that mean limited, as 429,503 (default: 429)',
);
