// Owns the way from a scenario file to a scenario that can run: read, checked, texts turned into numbers, defaults filled in.
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';
import { Compile } from 'typebox/compile';
import { clientFaults } from '../actor/client/check.js';
import { type ClientPlan, planClients } from '../actor/client/plan.js';
import type { Plan } from '../core/contract/plan.js';
import { rateLimiter } from '../core/contract/rate-limiter.js';
import { planContract } from '../core/contract/validate.js';
import { CYCLE_MS } from '../core/cycle.js';
import { Failure, type Fault } from '../core/failure.js';
import type { FindOperator } from '../core/operator/operator.js';
import { faultsOf } from '../core/schema-faults.js';
import type { ServiceSpec } from '../run/service-schema.js';
import { arrivalFaults } from '../traffic/arrival/check.js';
import type { ArrivalSpec } from '../traffic/arrival/schema.js';
import type { PopularitySpec } from '../traffic/popularity.js';
import { readDocument, type ScenarioDocument } from './document.js';
import { type Expectation, parseExpectation } from './expectation.js';
import { parseTime } from './quantity.js';
import { Scenario, type Target } from './schema.js';

/** A stretch of a run, in cycles from its start; `to` no longer belongs to it. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

export type PlannedFault =
  | { readonly kind: 'pause'; readonly at: Stretch }
  | { readonly kind: 'lost_answers'; readonly share: number; readonly at: Stretch };

/** A scenario ready to run: every time in cycles, every default filled in. */
export interface LoadedScenario {
  readonly name: string;
  readonly question: string;
  /** Folder of the file: paths of logs are read from there. */
  readonly folder: string;
  readonly seed: number;
  readonly cycleMs: number;
  readonly startCycle: number;
  /** Cycles in which requests come; undefined: as long as its logs. */
  readonly duration: number | undefined;
  readonly drain: number;
  readonly warmUp: number;
  readonly plan: Plan;
  readonly within: number;
  readonly contracts: number;
  readonly popularity: PopularitySpec;
  readonly independent: boolean;
  readonly arrivals: readonly ArrivalSpec[];
  readonly clients: readonly ClientPlan[];
  readonly service: ServiceSpec | undefined;
  readonly faults: readonly PlannedFault[];
  readonly phases: Readonly<Record<string, Stretch>>;
  readonly target: Target | undefined;
  readonly expectations: readonly Expectation[];
  /**
   * The same scenario where a cycle lasts `cycleMs`, as on a live node: what it says in cycles stays, what it says in seconds becomes
   * another number of cycles.
   */
  at(cycleMs: number): LoadedScenario;
}

const MOST_BYTES = 16 * 1024 * 1024;
const scenarioSchema = Compile(Scenario);

/**
 * @throws Failure `unreadable_file`, `invalid_yaml`, `invalid_input` with line and column of every fault, or those of `planContract`
 */
export async function loadScenario(path: string, findOperator: FindOperator): Promise<LoadedScenario> {
  const document = readDocument(await readScenario(path), path);
  return planScenario(document, path, findOperator);
}

/** As `loadScenario`, for a text that was read already; `path` names it. */
export function parseScenario(text: string, path: string, findOperator: FindOperator): LoadedScenario {
  return planScenario(readDocument(text, path), path, findOperator);
}

async function readScenario(path: string): Promise<string> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) throw new Error('it is a folder');
    if (found.size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure('unreadable_file', {
      what: `The scenario ${path} cannot be read.`,
      why: code === 'ENOENT' ? 'There is no such file.' : code === 'EACCES' ? 'Permission is denied.' : `${message}.`,
      fix: 'Give the path of a YAML or JSON file, for example scenarios/burst.yaml.',
    });
  }
}

function planScenario(document: ScenarioDocument, path: string, findOperator: FindOperator): LoadedScenario {
  try {
    const faults = scenarioFaults(document.value);
    if (faults.length > 0) throw refused(faults);
    return plan(document.value as Scenario, path, findOperator);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const faults = document.located(error.faults);
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
    throw new Failure(error.code, {
      what: `The scenario ${path} was refused.`,
      why: faults[0] === undefined ? (error.why ?? error.what) : `${faults[0].path}: ${faults[0].message}${more}.`,
      fix: error.fix ?? 'Mend the places listed.',
      faults,
    });
  }
}

/** Unions say little of what is wrong in them: arrivals and clients are checked by the rules of the kind they name. */
function scenarioFaults(value: unknown): Fault[] {
  if (scenarioSchema.Check(value)) return [];
  const faults = faultsOf(Scenario, scenarioSchema.Errors(value)).filter(
    ({ path }) => !/^\/(arrivals|clients)\/\d/.test(path),
  );
  const { arrivals, clients } = (value ?? {}) as { arrivals?: unknown; clients?: unknown };
  if (Array.isArray(arrivals))
    faults.push(...arrivals.flatMap((one, index) => arrivalFaults(one, `/arrivals/${index}`)));
  if (Array.isArray(clients)) faults.push(...clients.flatMap((one, index) => clientFaults(one, `/clients/${index}`)));
  return faults;
}

function refused(faults: readonly Fault[]): Failure {
  return new Failure('invalid_input', { what: 'The scenario was refused.', faults });
}

function plan(
  scenario: Scenario,
  path: string,
  findOperator: FindOperator,
  cycleMs = scenario.cycle_ms ?? CYCLE_MS,
): LoadedScenario {
  const time = (value: number | string, place: string, least = 0) => parseTime(value, cycleMs, place, least);
  const stretch = (from: number | string | undefined, to: number | string | undefined, place: string): Stretch => {
    const at = {
      from: time(from ?? 0, `${place}/from`),
      to: to === undefined ? Number.POSITIVE_INFINITY : time(to, `${place}/to`),
    };
    if (at.to <= at.from) throw refused([{ path: `${place}/to`, message: 'must lie after `from`' }]);
    return at;
  };
  const limiter = planLimiter(scenario, cycleMs, findOperator);
  const within = limiter.aggregates.reduce((longest, aggregate) => Math.max(longest, aggregate.within), 1);
  const duration = scenario.duration === undefined ? undefined : time(scenario.duration, '/duration', 1);
  const arrivals = scenario.arrivals ?? [];
  checkDuration(scenario, duration);
  const contracts = typeof scenario.contracts === 'object' ? scenario.contracts : { count: scenario.contracts ?? 1 };
  const phases = Object.fromEntries(
    Object.entries(scenario.phases ?? {}).map(([name, { from, to }]) => [name, stretch(from, to, `/phases/${name}`)]),
  );
  const clients = planClients(scenario.clients ?? [], cycleMs, '/clients');
  if (contracts.independent === true && (clients.length > 0 || scenario.service !== undefined)) {
    throw refused([{ path: '/contracts/independent', message: 'cannot be combined with clients or a service' }]);
  }
  const loaded: LoadedScenario = {
    name: scenario.name ?? basename(path, extname(path)).toLowerCase(),
    question: scenario.question,
    folder: dirname(path),
    seed: scenario.seed ?? 1,
    cycleMs,
    startCycle: scenario.start_cycle ?? 0,
    duration,
    drain: scenario.drain === undefined ? within : time(scenario.drain, '/drain'),
    warmUp: time(scenario.warm_up ?? 0, '/warm_up'),
    plan: limiter,
    within,
    contracts: contracts.count,
    popularity: contracts.popularity ?? { law: 'even' },
    independent: contracts.independent ?? false,
    arrivals,
    clients,
    service: scenario.service,
    faults: (scenario.faults ?? []).map((fault, index) => {
      const at = stretch(fault.from, fault.to, `/faults/${index}`);
      return fault.kind === 'pause' ? { kind: fault.kind, at } : { kind: fault.kind, share: fault.share, at };
    }),
    phases,
    target: scenario.target,
    expectations: (scenario.expect ?? []).map((spec, index) =>
      parseExpectation(spec, `/expect/${index}`, { time, phases }),
    ),
    at: (other) => (other === cycleMs ? loaded : plan(scenario, path, findOperator, other)),
  };
  return loaded;
}

function planLimiter({ limiter = {} }: Scenario, cycleMs: number, findOperator: FindOperator): Plan {
  const { definition, threshold, within } = limiter;
  if (definition === undefined) {
    const cycles = within === undefined ? undefined : parseTime(within, cycleMs, '/limiter/within', 1);
    return planContract(
      placed('/limiter', () =>
        rateLimiter({
          ...(threshold === undefined ? {} : { threshold }),
          ...(cycles === undefined ? {} : { within: cycles }),
        }),
      ),
      findOperator,
    );
  }
  if (threshold !== undefined || within !== undefined) {
    throw refused([{ path: '/limiter/definition', message: 'cannot be combined with threshold or within' }]);
  }
  return placed('/limiter/definition', () => planContract(definition, findOperator));
}

function placed<T>(place: string, body: () => T): T {
  try {
    return body();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const faults = error.faults.map(({ path, message }) => ({ path: `${place}${path}`, message }));
    throw new Failure(error.code, { what: error.what, ...(error.fix === undefined ? {} : { fix: error.fix }), faults });
  }
}

/** Something has to make requests, and they have to end. */
function checkDuration({ arrivals = [], clients = [] }: Scenario, duration: number | undefined): void {
  const closed = clients.some(({ kind }) => kind === 'closed');
  if (arrivals.length === 0 && !closed) {
    throw refused([{ path: '/arrivals', message: 'is required: nothing sends requests' }]);
  }
  if (duration !== undefined) return;
  const endless = arrivals.findIndex(({ model, to }) => model !== 'log' && to === undefined);
  if (closed || endless >= 0) {
    throw refused([{ path: '/duration', message: 'is required: requests would come for ever' }]);
  }
}
