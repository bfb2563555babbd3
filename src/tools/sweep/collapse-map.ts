// Where does a service stay stuck after a trigger has gone? Maps load by trigger size, for each policy of the clients.
//
//   trigger ^  . . # # #      # stuck in most runs     zones by load (Bronson et al., Metastable failures in distributed systems, 2021)
//           |  . . # # #        stable      no trigger of the map leaves it stuck
//           |  . . . # #        vulnerable  a large enough trigger does
//           |  . . . . #        collapsed   the smallest one does
//           +-----------> load
//
// Which points are run is decided by collapse-points.ts: an island smaller than its lattice is missed. A run that ends stuck
// may only drain slowly: if the scenario has a warm-up, the smallest stuck trigger of a load runs again for eight times as long, with as
// long a measurement at the end. If it recovers, so do smaller triggers, and larger ones are tried.
//
//   stuck             share of the runs; 0 of n runs has the interval 0 .. 3.84 / (n + 3.84)
//   time to recover   mean of the runs that do
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { meanInterval, shareInterval } from '../../core/math/interval.js';
import { type Axis, type Cell, type Json, parseAxis, wrongSweep } from '../../harness/scenario/grid.js';
import {
  type Explored,
  explore,
  FIRST_RUNS,
  newPoint,
  type Point,
  pointAt,
  recoveringAt,
  shareAt,
} from './collapse-points.js';
import { type FigureCondition, readFigureCondition, type SweepPlan, scenarioOf } from './plan-sweep.js';
import { exactly, openRunner, type Runner, type RunSweepOptions, type SweepRow, type SweptFigure } from './sweep.js';

export interface MapQuestion {
  /** Axis of the load, for example `arrivals.0.rate=2/s..10/s:1/s`. */
  readonly across: string;
  readonly up: string;
  /** Comparisons of figures that hold for a stuck run, for example `clients.succeeded < clients.jobs / 2`. */
  readonly stuck: string;
}

type Zone = 'stable' | 'vulnerable' | 'collapsed';

export interface MapColumn {
  readonly set: Cell['set'];
  readonly zone: Zone;
  /** Smallest trigger that leaves half of the runs stuck. */
  readonly stuckFrom: Json | undefined;
  /** Largest stuck trigger that recovers in a run of `prolonged` times the length. */
  readonly drainsUpTo: Json | undefined;
  readonly prolonged: number;
  /** Time to recover from the largest trigger, of those run, that it recovers from. */
  readonly recovers: { readonly from: Json; readonly ms: SweptFigure } | undefined;
}

export interface CollapseMap {
  readonly axes: readonly Axis[];
  readonly cells: readonly Cell[];
  /** A row per point: `stuck` (share, Wilson's 95 % interval), `clients.drain_ms` (if recovered), `runs` (0: inferred). */
  readonly rows: readonly SweepRow[];
  readonly columns: readonly MapColumn[];
  /** Runs made, and runs that a full map would have needed. */
  readonly runs: number;
  readonly runsOfAll: number;
}

const PROLONGED = 8;
export const RECOVERY = 'clients.drain_ms';

const notProlonged = { upTo: -1, times: 1 };

/** Cells are policies, replications the runs of a border point. Undefined if stopped. @throws Failure `wrong_usage` */
export async function mapCollapse(
  plan: SweepPlan,
  question: MapQuestion,
  { signal, known, onRun, ...place }: RunSweepOptions = {},
): Promise<CollapseMap | undefined> {
  const [across, up] = [mapAxis(question.across), mapAxis(question.up)];
  const least = { [across.path]: across.values[0]!, [up.path]: up.values[0]! };
  const condition = readFigureCondition(question.stuck, plan, least);
  const runner = await openRunner(plan, place, { signal, runs: Number.POSITIVE_INFINITY, known, onRun });
  try {
    const mapping = new Mapping({ plan, across, up, condition, runner });
    for (const { set } of plan.cells) {
      await mapping.mapPolicy(set);
      if (signal?.aborted === true) return undefined;
    }
    return mapping.result();
  } finally {
    await runner.close();
  }
}

interface Asked {
  readonly plan: SweepPlan;
  readonly across: Axis;
  readonly up: Axis;
  readonly condition: FigureCondition;
  readonly runner: Runner;
}

/** The map so far: one policy after the other. */
class Mapping {
  readonly #cells = new Map<string, Cell>();
  readonly #rows: SweepRow[] = [];
  readonly #columns: MapColumn[] = [];
  #runs = 0;
  /** Runs of a point at the border. */
  readonly #most: number;

  constructor(readonly asked: Asked) {
    this.#most = Math.max(asked.plan.replications, FIRST_RUNS);
  }

  async mapPolicy(set: Cell['set']): Promise<void> {
    const { across, up } = this.asked;
    const [width, height] = [across.values.length, up.values.length];
    const setAt = (x: number, y: number) => ({ ...set, [up.path]: up.values[y]!, [across.path]: across.values[x]! });
    const points = await explore(width, height, this.#most, (point, x, y, n) => this.#add(point, setAt(x, y), n));
    for (const [x, load] of across.values.entries()) {
      const column = await this.#columnOf(points, x, (y) => setAt(x, y));
      this.#columns.push({ set: { ...set, [across.path]: load }, ...column });
    }
    for (let y = 0; y < height; y += 1)
      for (let x = 0; x < width; x += 1) this.#rows.push(rowOf(this.#rows.length, setAt(x, y), points, x, y));
  }

  result(): CollapseMap {
    const { plan, across, up } = this.asked;
    return {
      axes: [...plan.axes, up, across],
      cells: [...this.#cells.values()],
      rows: this.#rows,
      columns: this.#columns,
      runs: this.#runs,
      runsOfAll: this.#rows.length * this.#most,
    };
  }

  /** Makes the runs that a point lacks. */
  async #add(point: Point, set: Cell['set'], n: number): Promise<void> {
    const cell = this.#cellOf(set);
    const lacking = Array.from({ length: Math.max(0, n - point.n) }, (_, index) => point.n + index);
    for (const run of await Promise.all(lacking.map((replication) => this.asked.runner.run(cell, replication)))) {
      if (run === undefined) return;
      point.n += 1;
      point.stuck += this.asked.condition.holds(run.figures) ? 1 : 0;
      if (RECOVERY in run.figures) point.recoveriesMs.push(run.figures[RECOVERY]!);
      this.#runs += 1;
    }
  }

  async #columnOf(points: Explored, x: number, setAt: (y: number) => Cell['set']): Promise<Omit<MapColumn, 'set'>> {
    const { values } = this.asked.up;
    const { upTo, times } = await this.#drained(points, x, setAt);
    const first = values.findIndex((_, y) => shareAt(points, x, y) >= 0.5);
    const y = recoveringAt(points, x, values.length);
    const point = points.sampled.get(y * points.width + x);
    // Prolonged runs are few.
    if (point !== undefined && point.recoveriesMs.length > 0 && times === 1)
      await this.#add(point, setAt(y), this.#most);
    const ms = point && recoveryOf(point);
    return {
      zone: first < 0 ? 'stable' : first === 0 ? 'collapsed' : 'vulnerable',
      stuckFrom: values[first],
      drainsUpTo: values[upTo],
      prolonged: times,
      recovers: ms && { from: values[y]!, ms },
    };
  }

  /** The largest trigger that only drains slowly at a load. It and smaller ones no longer count as stuck. */
  async #drained(points: Explored, x: number, setAt: (y: number) => Cell['set']): Promise<typeof notProlonged> {
    const { duration, warmUp } = scenarioOf(this.asked.plan, setAt(0));
    const stuck = [...this.asked.up.values.keys()].filter((y) => shareAt(points, x, y) >= 0.5);
    if (duration === undefined || warmUp === 0 || stuck.length === 0) return notProlonged;
    const longer = { duration: PROLONGED * duration, warm_up: warmUp + (PROLONGED - 1) * duration };
    const remains = async (y: number): Promise<boolean> => {
      const point = newPoint();
      await this.#add(point, { ...setAt(y), ...longer }, Math.min(FIRST_RUNS, this.#most));
      if (2 * point.stuck >= point.n) return true;
      points.sampled.set(y * points.width + x, point);
      return false;
    };
    let [low, high] = [0, stuck.length];
    // Usually the smallest one remains stuck.
    if (await remains(stuck[0]!)) high = 0;
    else low = 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (await remains(stuck[middle]!)) high = middle;
      else low = middle + 1;
    }
    for (const y of stuck.slice(0, high)) {
      const place = y * points.width + x;
      if (shareAt(points, x, y) < 0.5) continue;
      points.sampled.delete(place);
      points.inferred.set(place, { ...newPoint(), n: 1 });
    }
    return { upTo: stuck[high - 1] ?? -1, times: PROLONGED };
  }

  #cellOf(set: Cell['set']): Cell {
    return getOrInsert(this.#cells, JSON.stringify(set), () => ({ cell: this.#cells.size, set }));
  }
}

function mapAxis(text: string): Axis {
  const axis = parseAxis(text);
  if (axis.values.length < 2)
    throw wrongSweep(`${axis.path} needs at least two values.`, 'Write for example arrivals.0.rate=2/s..10/s:1/s.');
  return axis;
}

/** Mean with its 95 % interval over the runs that recover; undefined for fewer than two. */
function recoveryOf({ recoveriesMs }: Point): SweptFigure | undefined {
  if (recoveriesMs.length < 2) return undefined;
  const { mean, low, high } = meanInterval(recoveriesMs);
  return { mean, low, high };
}

function rowOf(cell: number, set: Cell['set'], explored: Explored, x: number, y: number): SweepRow {
  const isSampled = explored.sampled.has(y * explored.width + x);
  const point = pointAt(explored, x, y);
  const { stuck, n } = point;
  const recovery = isSampled ? recoveryOf(point) : undefined;
  const { low, high } = isSampled && n > 0 ? shareInterval(stuck, n) : { low: null, high: null };
  const runs = isSampled ? n : 0;
  const figures = {
    stuck: { mean: shareAt(explored, x, y), low, high },
    ...(recovery && { [RECOVERY]: recovery }),
    runs: exactly(runs),
  };
  return { cell, set, n: runs, held: null, held_share: null, figures };
}
