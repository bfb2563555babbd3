// Options that several commands share, so that they mean the same everywhere.
import { type Seed, seedOf } from '../math/seed.js';
import { Failure } from '../schema/failure.js';
import { cycleMsFor, nearestWindow, parseTime } from '../schema/quantity.js';
import { CYCLE_MS } from '../time/cycle.js';
import { usageFailure } from './ending.js';
import { warn } from './say.js';
import type { Watch } from './watch.js';

export const jsonOption = { type: 'boolean', default: false, describe: 'print JSON, for programs' } as const;

/** For a positional argument that takes several words: without it, help shows an empty list as its default. */
export const noDefault = { default: undefined } as const;

export const scenariosArgument = {
  type: 'string',
  array: true,
  demandOption: true,
  ...noDefault,
  describe: 'scenario files (YAML or JSON)',
} as const;

export const seedOption = {
  type: 'string',
  requiresArg: true,
  coerce: (text: string): Seed => seedOf(text) ?? text,
  describe: 'instead of the seed of the scenario: a whole number, or one that a run has named, such as 77/2',
} as const;

export const outOption = {
  type: 'string',
  describe: 'folder for the report (default: reports/<scenario>/<seed>)',
  requiresArg: true,
} as const;

export const watchOption = {
  type: 'string',
  describe: 'show the run while it goes on: a page on loopback, or with --watch=text the whole terminal',
} as const;

/**
 * What shows the runs of a command; it is loaded only where it is asked for.
 * @param how what --watch was given: undefined for nobody, `text` for the terminal, else a page
 * @throws Failure `wrong_usage`
 */
export async function watchOf(how: string | undefined): Promise<Watch | undefined> {
  if (how === undefined) return undefined;
  if (how !== '' && how !== 'page' && how !== 'text')
    throw new Failure('wrong_usage', {
      what: `--watch takes page or text, and not "${how}".`,
      fix: 'Put --watch at the end, or say --watch=page.',
    });
  if (how === 'text' && process.stderr.isTTY !== true)
    throw new Failure('wrong_usage', {
      what: '--watch=text draws on a terminal, and there is none.',
      fix: 'Say --watch for a page in the browser.',
    });
  const { Watch } = await import('./watch.js');
  return Watch.open(how === 'text' ? 'terminal' : 'page');
}

export const portOption = {
  type: 'number',
  default: 0,
  requiresArg: true,
  describe: 'loopback port (0: a free one)',
} as const;

export const reportOption = {
  type: 'boolean',
  default: true,
  describe: 'write a report; --no-report leaves it out',
} as const;

/**
 * The duration in an option, in whole cycles: `60`, `60 cycles`, `47s`.
 * @throws Failure `wrong_usage`
 */
export function durationIn(option: string, text: string, cycleMs: number, least = 0): number {
  try {
    return parseTime(text, cycleMs, `--${option}`, least);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { why = error.message, fix = 'For example 60, 60 cycles or 47s.' } = error;
    throw new Failure('wrong_usage', { what: `--${option} takes a duration, not "${text}".`, why, fix });
  }
}

/**
 * Length of a cycle in ms: as given, or as windows want it that are written in time.
 * @throws Failure `wrong_usage`
 */
export function cycleMsOf(given: number | undefined, windows: readonly (number | string | undefined)[]): number {
  if (given !== undefined) checkCycleMs(given);
  return given ?? cycleMsFor(windows, CYCLE_MS);
}

/** @throws Failure `wrong_usage` */
function checkCycleMs(cycleMs: number): void {
  if (Number.isInteger(cycleMs) && cycleMs >= 1 && cycleMs <= 86_400_000) return;
  throw new Failure('wrong_usage', {
    what: '--cycle-ms takes whole milliseconds from 1 to 86400000.',
    fix: 'Leave it out, or give for example 777.',
  });
}

/**
 * Windows in whole cycles, and what is to be said of those that are none.
 * @throws Failure `wrong_usage`
 */
export function windowsIn(option: string, texts: readonly string[], cycleMs: number) {
  const cycles = texts.map((text) => durationIn(option, text, cycleMs, 1));
  const notes = texts.flatMap((text, index) => nearestWindow(text, cycles[index]!, cycleMs) ?? []);
  return { cycles, notes: [...new Set(notes)] };
}

export const cycleMsOption = {
  type: 'number',
  requiresArg: true,
  describe:
    'length of a cycle in ms (default: 777; for windows written in time 500, or the longest up to 777 that divides them)',
} as const;

const TOP = 100;

export const topOption = {
  type: 'number',
  default: TOP,
  describe: 'how many contracts the outcome lists; totals cover all',
  requiresArg: true,
} as const;

/** @throws Failure `wrong_usage` */
export function checkTop(top: number): void {
  if (Number.isSafeInteger(top) && top >= 1) return;
  throw new Failure('wrong_usage', { what: '--top takes a whole number from 1 on.', fix: 'For example --top 10.' });
}

/** @throws Failure `wrong_usage` */
export function checkSeed(seed: Seed | undefined): void {
  if (seed === undefined || seedOf(seed) !== undefined) return;
  throw new Failure('wrong_usage', {
    what: '--seed takes a whole number from 0 on, or a seed that a run has named.',
    fix: 'For example --seed 7, or --seed 7/2.',
  });
}

/** @throws Failure `wrong_usage` */
export function checkThreads(threads: number | undefined): void {
  if (threads === undefined || (Number.isInteger(threads) && threads >= 1 && threads <= 1024)) return;
  const what = '--threads takes a whole number from 1 to 1024.';
  throw new Failure('wrong_usage', { what, fix: 'Leave it out for one a core.' });
}

export const workersOption = {
  type: 'string',
  requiresArg: true,
  describe: 'use remote workers through this Redis instead of local threads: redis://host:6379',
} as const;

/**
 * Where the runs of a command are made.
 * @throws Failure `wrong_usage`
 */
export function runPlace({ threads, workers }: { threads?: number | undefined; workers?: string | undefined }) {
  checkThreads(threads);
  if (threads !== undefined && workers !== undefined) {
    throw new Failure('wrong_usage', {
      what: '--threads is for this machine, and --workers sends the runs to others.',
      fix: 'Say `weir worker --threads` there.',
    });
  }
  return { threads, workers, onNotice: (words: string) => warn(`weir: ${words}\n`) };
}

/** The option for a rerun command; empty for the default. */
export function topFlag(top: number): { readonly top?: number } {
  return top === TOP ? {} : { top };
}

export const inputOption = {
  type: 'string',
  array: true,
  requiresArg: true,
  describe: 'an input as name=number; may be repeated',
} as const;

/** @throws Failure `wrong_usage` */
export function inputsFrom(texts: readonly string[] = []): Record<string, number> {
  const entries = texts.map((text) => {
    const [, name, number] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    const value = Number(number);
    if (name === undefined || !Number.isFinite(value)) throw usageFailure(`--input takes name=number, not "${text}".`);
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}
