// How many of its draws a test makes: some of them, all with WEIR_ALL=1, which `npm run marathon` sets.
import fc from 'fast-check';

export const isAll = process.env['WEIR_ALL'] === '1';

/** The first n of the draws, or all of them. */
export function few<T>(draws: readonly T[], n: number): readonly T[] {
  return isAll ? draws : draws.slice(0, n);
}

/** How often a property is tried: a tenth of `all`, or all. Each run draws others. */
export function tries(all: number): number {
  return isAll ? all : Math.ceil(all / 10);
}

/** For texts. The unit `binary` of fast-check first makes a table of all characters, in a second of each process. */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800));

type Values<T> = { [K in keyof T]: fc.Arbitrary<T[K]> };
/** How often, as in `tries`, or options; default: as `after-file.ts` has it. */
type How = number | fc.Parameters<any>;
type Property<T extends unknown[], Result> = [holds: (...drawn: T) => Result] | [How, (...drawn: T) => Result];

/** Asserts a property of all values. */
export function forAll<T extends [unknown, ...unknown[]]>(
  values: [...Values<T>],
  ...given: Property<T, unknown>
): void {
  const [holds, how] = given.toReversed();
  fc.assert((fc.property as any)(...values, holds), optionsOf(how));
}

/** The same of a property that takes its time. */
export async function forAllAsync<T extends [unknown, ...unknown[]]>(
  values: [...Values<T>],
  ...given: Property<T, Promise<unknown>>
): Promise<void> {
  const [holds, how] = given.toReversed();
  await fc.assert((fc.asyncProperty as any)(...values, holds), optionsOf(how));
}

const optionsOf = (how: unknown) => (typeof how === 'number' ? { numRuns: tries(how) } : (how as How & object));
