// A request without an answer was counted in some cycle from its sending on, or never. A contract differs from the model only if it does
// in each of these worlds.
//
//   sent in cycle 3, no answer      3? 4? 5? ... never       world: the cycles in which the lost requests were counted
//
// If a world first differs in cycle d, only another request counted up to d can repair it. Counting a request never lowers a count, so
// a world that differs sooner with that request than without it is pruned with all its successors.
import type { Difference } from '../outcome/outcome-schema.js';
import { arrivedIn, type Model, type ModelOptions, modelOf } from './model.js';
import type { CycleCell } from './request-log.js';

interface LostAnswers {
  readonly cells: readonly CycleCell[];
  readonly lost: readonly number[];
}

interface World {
  readonly counted: readonly (number | undefined)[];
  readonly differences: readonly Difference[];
  readonly first: number;
}

const MOST_WORLDS = 300;

/** The differences in the world that agrees with the model for longest; undefined if there are too many worlds. */
export async function explainLost(
  { cells, lost }: LostAnswers,
  options: ModelOptions,
  compare: (model: Model) => readonly Difference[],
): Promise<readonly Difference[] | undefined> {
  const arrived = arrivedIn(cells).map((one) => ({ ...one, contract: 0 }));
  const known = new Set<string>();
  const worldOf = async (counted: World['counted']): Promise<World> => {
    const more = counted.flatMap((cycle) => (cycle === undefined ? [] : [{ cycle, contract: 0, n: 1 }]));
    const differences = compare(await modelOf([...arrived, ...more], options));
    return { counted, differences, first: firstOf(differences) };
  };
  const open = [await worldOf(lost.map(() => undefined))];
  let best = open[0]!;
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    if (world.first > best.first) best = world;
    if (world.first === Number.POSITIVE_INFINITY) return [];
    for (const counted of followingWorlds(world, lost)) {
      const key = counted.join();
      if (known.has(key)) continue;
      if (known.size >= MOST_WORLDS) return undefined;
      known.add(key);
      const next = await worldOf(counted);
      if (next.first >= world.first) open.push(next);
    }
    open.sort((a, b) => a.first - b.first);
  }
  return best.differences;
}

/** Worlds with one more request counted, up to the first difference. Requests of one cycle are interchangeable: only the first. */
function followingWorlds({ counted, first }: World, lost: readonly number[]): (number | undefined)[][] {
  return lost.flatMap((sent, k) => {
    const isSame = lost.findIndex((one, other) => one === sent && counted[other] === undefined) !== k;
    if (counted[k] !== undefined || isSame || sent > first) return [];
    return Array.from({ length: first - sent + 1 }, (_, after) => counted.with(k, sent + after));
  });
}

function firstOf(differences: readonly Difference[]): number {
  return differences.reduce((least, { cycle }) => Math.min(least, cycle), Number.POSITIVE_INFINITY);
}
