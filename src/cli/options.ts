// Owns options that several commands share, so that they mean the same everywhere.
import { Failure } from '../schema/failure.js';

export const jsonOption = { type: 'boolean', default: false, describe: 'print JSON, for programs' } as const;

/** For a positional that takes several words: without it help would name an empty list as its default. */
export const noDefault = { default: undefined } as const;

export const outOption = {
  type: 'string',
  describe: 'folder for the report (default: reports/<scenario>/<seed>)',
  requiresArg: true,
} as const;

export const reportOption = {
  type: 'boolean',
  default: true,
  describe: 'write a report; --no-report leaves it out',
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
export function checkSeed(seed: number | undefined): void {
  if (seed === undefined || (Number.isSafeInteger(seed) && seed >= 0)) return;
  throw new Failure('wrong_usage', { what: '--seed takes a whole number from 0 on.', fix: 'For example --seed 7.' });
}

/** For a command that is to be given again. */
export function topFlag(top: number): { readonly top?: number } {
  return top === TOP ? {} : { top };
}
