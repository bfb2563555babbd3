// Which limits of Caddy a request meets: those of all blocks that it passes, and of blocks that exclude each other those of the first.
//
//   handle /health { … }      none of the blocks after it
//   handle { rate_limit … }   every other path
//
// Source: Caddy 2.6, its Caddyfiles adapted and run.
import { type FoundLimiter, type FoundLimits, fits, type Reach } from './found.js';

export interface CaddyBlock extends Reach {
  /** Of the branches beside it with the same name only one is taken. */
  readonly group?: string | undefined;
  readonly limiters: readonly FoundLimiter[];
  readonly branches: readonly CaddyBlock[];
}

/** Of the top level. */
export function takeBranches(branches: readonly CaddyBlock[], found: FoundLimits): void {
  const limiters = branches.flatMap(limitersOf);
  for (const one of limiters) found.routed.add(one);
  for (const where of new Set(limiters.map((one) => one.where)))
    found.places.push({ where, limiters: limiters.filter((one) => one.where === where) });
  found.routes.push((host, path) => metBy({ hosts: [], paths: [], limiters: [], branches }, host, path));
}

export const limitersOf = ({ limiters, branches }: CaddyBlock): readonly FoundLimiter[] => [
  ...limiters,
  ...branches.flatMap(limitersOf),
];

/** An unknown host is one that has limits. */
function metBy(branch: CaddyBlock, host: string | undefined, path: string): readonly FoundLimiter[] {
  const taken = new Set<string | undefined>();
  const fitting = branch.branches.filter((one) => {
    const isAsked = host !== undefined || one.hosts.length === 0 || limitersOf(one).length > 0;
    if (!isAsked || !fits(one, host, path) || (one.group !== undefined && taken.has(one.group))) return false;
    taken.add(one.group);
    return true;
  });
  const own = branch.limiters.filter((one) => fits(one, host, path));
  return [...own, ...fitting.flatMap((one) => metBy(one, host, path))];
}

/** Caddy sorts handles: the longest single path first, what has no matcher last. */
export function handlesInOrder(branches: readonly CaddyBlock[]): readonly CaddyBlock[] {
  const rank = ({ paths }: CaddyBlock) => {
    const [first] = paths;
    if (first === undefined || paths.length > 1) return first === undefined ? 0 : 1;
    return 2 + first.text.length;
  };
  const isHandle = ({ group }: CaddyBlock) => group === 'handle';
  return [...branches.filter((one) => !isHandle(one)), ...branches.filter(isHandle).sort((a, b) => rank(b) - rank(a))];
}
