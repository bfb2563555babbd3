// Which points of a map are run: a coarse lattice first, and halves of each rectangle whose corners disagree, down to neighbours.
//
//   o-------o       o---o---o       o   run: FIRST_RUNS each, all of them at the border
//   |       |  ─►   |   |   |           corners that agree: the points between are inferred
//   o-------#       o---o---#

export const FIRST_RUNS = 4;
const COARSE = 4;

export interface Point {
  n: number;
  stuck: number;
  readonly recoveriesMs: number[];
}

export const newPoint = (): Point => ({ n: 0, stuck: 0, recoveriesMs: [] });

/** By place `y * width + x`. An inferred point is the corner that represents it. */
export interface Explored {
  readonly width: number;
  readonly sampled: Map<number, Point>;
  readonly inferred: Map<number, Point>;
}

type Sample = (point: Point, x: number, y: number, n: number) => Promise<void>;

export async function explore(width: number, height: number, most: number, sample: Sample): Promise<Explored> {
  const sampled = new Map<number, Point>();
  const inferred = new Map<number, Point>();
  const at = (x: number, y: number) => y * width + x;
  const sampleAll = (places: readonly number[], n: number) =>
    Promise.all(
      places.map((place) => {
        const point = sampled.get(place) ?? newPoint();
        sampled.set(place, point);
        return sample(point, place % width, Math.floor(place / width), n);
      }),
    );
  let open = rectangles(lattice(width), lattice(height));
  while (open.length > 0) {
    const corners = new Set(open.flatMap(([x0, x1, y0, y1]) => [at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1)]));
    await sampleAll(
      [...corners].filter((place) => !sampled.has(place)),
      Math.min(FIRST_RUNS, most),
    );
    open = open.flatMap(([x0, x1, y0, y1]) => {
      const around = [at(x0, y0), at(x1, y0), at(x0, y1), at(x1, y1)].map((place) => sampled.get(place)!);
      const agree = around.every(({ stuck }) => stuck === 0) || around.every(({ stuck, n }) => stuck === n);
      if (agree) {
        for (let y = y0; y <= y1; y += 1) for (let x = x0; x <= x1; x += 1) inferred.set(at(x, y), around[0]!);
        return [];
      }
      if (x1 - x0 <= 1 && y1 - y0 <= 1) return [];
      return rectangles(halves(x0, x1), halves(y0, y1));
    });
  }
  const explored = { width, sampled, inferred };
  const border = [...sampled.keys()].filter((place) => {
    const [x, y] = [place % width, Math.floor(place / width)];
    const own = shareAt(explored, x, y);
    const neighbours = [
      [x - 1, y],
      [x + 1, y],
      [x, y - 1],
      [x, y + 1],
    ] as const;
    const isOther = ([nx, ny]: readonly [number, number]) =>
      nx >= 0 && ny >= 0 && nx < width && ny < height && shareAt(explored, nx, ny) >= 0.5 !== own >= 0.5;
    return (own > 0 && own < 1) || neighbours.some(isOther);
  });
  await sampleAll(border, most);
  return explored;
}

function lattice(length: number): number[] {
  const n = Math.min(COARSE, length - 1);
  return Array.from({ length: n + 1 }, (_, index) => Math.round((index * (length - 1)) / n));
}

function halves(from: number, to: number): number[] {
  return to - from <= 1 ? [from, to] : [from, Math.floor((from + to) / 2), to];
}

type Rectangle = readonly [x0: number, x1: number, y0: number, y1: number];

function rectangles(xs: readonly number[], ys: readonly number[]): Rectangle[] {
  return xs.slice(1).flatMap((x1, i) => ys.slice(1).map((y1, j) => [xs[i]!, x1, ys[j]!, y1] as const));
}

export function pointAt({ width, sampled, inferred }: Explored, x: number, y: number): Point {
  const place = y * width + x;
  return sampled.get(place) ?? inferred.get(place)!;
}

export function shareAt(explored: Explored, x: number, y: number): number {
  const { stuck, n } = pointAt(explored, x, y);
  return n === 0 ? 0 : stuck / n;
}

export function recoveringAt({ width, sampled }: Explored, x: number, height: number): number {
  const points = Array.from({ length: height }, (_, y) => sampled.get(y * width + x));
  return points.findLastIndex((point) => point !== undefined && 2 * point.stuck < point.n);
}
