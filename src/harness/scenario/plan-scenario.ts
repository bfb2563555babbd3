// Plans a scenario: parses and checks it, reads quantities, fills in defaults.
import { type Plan, spanCycles } from '../../core/limiter/plan.js';
import { type Family, families } from '../../core/limiter/products/families.js';
import { limitSentence } from '../../core/limiter/products/limit-sentence.js';
import {
  followsRule,
  limiterDefinition,
  limiterNotes,
  ruleLimiterFaults,
  windowsOf,
} from '../../core/limiter/products/limiter-spec.js';
import { planContract } from '../../core/limiter/validate.js';
import { drawsOf } from '../../core/math/random.js';
import { parseTimeLaw } from '../../core/math/time-law.js';
import { compileSchema } from '../../core/schema/compile-schema.js';
import { readDocument, type ScenarioDocument } from '../../core/schema/document.js';
import { Failure, type Fault } from '../../core/schema/failure.js';
import { cycleMsFor, MAX_CYCLES, nearestWindow, parseTime } from '../../core/schema/quantity.js';
import { isJsonObject, valueFaults } from '../../core/schema/value-faults.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import { type CustomClientSpec, planClients } from '../clients/client-plan.js';
import type { ClientSpec } from '../clients/client-schema.js';
import { parseExpectation } from '../outcome/expectation.js';
import { parseStretch } from '../outcome/stretch.js';
import type { ArrivalSpec } from '../traffic/arrival/arrival-schema.js';
import type { ArrivalFunction, CustomArrivalSpec } from '../traffic/arrival/custom.js';
import { planArrival } from '../traffic/arrival/make.js';
import { planPopularity } from '../traffic/popularity.js';
import { checkParts } from './check-scenario.js';
import { planCosts } from './cost-plan.js';
import { limiterIn } from './limit-file.js';
import type { LoadedScenario, PlannedFault, ScenarioSource } from './loaded-scenario.js';
import { Scenario, WindowLimiter } from './scenario-schema.js';
import { planService } from './service-plan.js';

const isScenario = compileSchema(Scenario);

/** A scenario file as a value. Arrivals may also be functions; functions define clients of kind `custom`. */
export type ScenarioObject = Omit<Scenario, 'arrivals' | 'clients'> & {
  readonly arrivals?: readonly (ArrivalSpec | ArrivalFunction)[] | undefined;
  readonly clients?: readonly (ClientSpec | CustomClientSpec)[] | undefined;
};

/**
 * @throws Failure `invalid_yaml`, `invalid_input` with the place of every fault, or those of `planContract`
 */
export function planScenario(given: string | ScenarioObject, source: ScenarioSource): LoadedScenario {
  const document = typeof given === 'string' ? readDocument(given, source.path) : documentOf(given);
  try {
    const value = withLimiterRead(document.value, source);
    const faults = scenarioFaults(withoutFunctions(value)).concat(controlFaults(value));
    if (faults.length > 0) throw refused(faults);
    const isText = typeof (document.value as { readonly limiter?: unknown }).limiter === 'string';
    return plan(value as PlannedScenario, source, isText);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const faults = document.located(error.faults);
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : '';
    throw new Failure(error.code, {
      what: `The scenario ${source.path} was refused.`,
      why:
        faults[0] === undefined
          ? (error.why ?? error.what)
          : `${faults[0].path}: ${faults[0].message}${more}.`.replace(/\?\.$/, '?'),
      fix: error.fix ?? 'Correct the places listed.',
      faults,
    });
  }
}

function documentOf(source: ScenarioObject): ScenarioDocument {
  return {
    value: { ...source, ...(source.arrivals === undefined ? {} : { arrivals: source.arrivals.map(asSpec) }) },
    located: (faults) => [...faults],
  };
}

function asSpec(arrival: ArrivalSpec | ArrivalFunction): ArrivalSpec | CustomArrivalSpec {
  return typeof arrival === 'function' ? { model: 'custom', count: arrival } : arrival;
}

type PlannedScenario = Omit<ScenarioObject, 'arrivals'> & {
  readonly arrivals?: readonly (ArrivalSpec | CustomArrivalSpec)[];
};

function withLimiterRead(value: unknown, source: ScenarioSource, place = ''): unknown {
  const { limiter, control } = (value ?? {}) as { readonly limiter?: unknown; readonly control?: unknown };
  const read = (file: string) => readBeside(file, source, '');
  if (typeof control === 'object' && control !== null) {
    const readControl = withLimiterRead(control, source, '/control');
    if (readControl !== control) return withLimiterRead({ ...(value as object), control: readControl }, source);
  }
  if (typeof limiter !== 'string') return value;
  return { ...(value as object), limiter: placed(`${place}/limiter`, () => limiterIn(limiter, read)) };
}

/** The schema has no functions: checks them as a model without requests, and as an open client. */
function withoutFunctions(value: unknown): unknown {
  const { arrivals, clients } = (value ?? {}) as PlannedScenario;
  if (!Array.isArray(arrivals) && !Array.isArray(clients)) return value;
  return {
    ...(value as object),
    ...(Array.isArray(arrivals) ? { arrivals: arrivals.map(arrivalWithout) } : {}),
    ...(Array.isArray(clients) ? { clients: clients.map(clientWithout) } : {}),
  };
}

function arrivalWithout(arrival: unknown): unknown {
  const isFunction = typeof (arrival as Partial<CustomArrivalSpec> | null)?.count === 'function';
  return isFunction ? { model: 'counts', counts: [0] } : arrival;
}

function clientWithout(client: unknown): unknown {
  const { kind, on, initial, ...rest } = (client ?? {}) as Partial<CustomClientSpec>;
  const isCustom = kind === 'custom' && typeof on === 'function' && typeof initial?.at === 'string';
  return isCustom ? { kind: 'open', ...rest } : client;
}

/** What a control replaces is checked in its place, so that its faults read as those of the scenario. */
function controlFaults(value: unknown): Fault[] {
  const { control, ...scenario } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof control !== 'object' || control === null || Array.isArray(control)) return [];
  const { name: _, ...replaced } = control as Readonly<Record<string, unknown>>;
  const faults = scenarioFaults(withoutFunctions({ ...scenario, ...replaced }));
  return ofControl(replaced, faults).filter(({ path }) => path.startsWith('/control/'));
}

function ofControl(replaced: object, faults: readonly Fault[]): Fault[] {
  return faults.map((fault) =>
    Object.hasOwn(replaced, fault.path.split('/')[1] ?? '') ? { ...fault, path: `/control${fault.path}` } : fault,
  );
}

function scenarioFaults(value: unknown): Fault[] {
  if (isScenario(value)) {
    const { limiter } = value as Scenario;
    return followsRule(limiter) ? ruleLimiterFaults(limiter, '/limiter') : [];
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = value === null ? 'it is empty' : Array.isArray(value) ? 'it is a list' : 'it is a single value';
    return [{ path: '', message: `a scenario has fields, as question and arrivals, but ${found}` }];
  }
  const all = valueFaults(Scenario, value);
  const { limiter } = value as { readonly limiter?: unknown };
  const hasLimiter = isJsonObject(limiter);
  const faults = all.filter(
    ({ path }) =>
      !/^\/control\/((arrivals|clients)\/\d|limiter\b)/.test(path) && !(hasLimiter && /^\/limiter\b/.test(path)),
  );
  if (hasLimiter) {
    const isRule = followsRule(limiter);
    faults.push(...(isRule ? ruleLimiterFaults(limiter, '/limiter') : valueFaults(WindowLimiter, limiter, '/limiter')));
  }
  return faults.length > 0 ? faults : all;
}

function refused(faults: readonly Fault[]): Failure {
  return new Failure('invalid_input', { what: 'The scenario was refused.', faults });
}

/** @param isText the limiter was given as text: a note says how it was understood */
function plan(
  scenario: PlannedScenario,
  source: ScenarioSource,
  isText = false,
  cycleMs = scenario.cycle_ms ?? cycleMsFor(windowsOf(scenario.limiter ?? {}), CYCLE_MS),
  window?: number,
): LoadedScenario {
  const time = (value: number | string, place: string, least = 0) => parseTime(value, cycleMs, place, least);
  const limiter = planLimiter(scenario, source, cycleMs);
  const within = window ?? spanCycles(limiter, cycleMs);
  const duration = scenario.duration === undefined ? undefined : time(scenario.duration, '/duration', 1);
  const phases = Object.fromEntries(
    Object.entries(scenario.phases ?? {}).map(([name, { from, to }]) => [
      name,
      parseStretch({ from, to }, `/phases/${name}`, time),
    ]),
  );
  const clients = planClients(scenario.clients ?? [], cycleMs, '/clients');
  const faults = (scenario.faults ?? []).map((fault, index): PlannedFault => {
    const at = parseStretch(fault, `/faults/${index}`, time);
    return fault.kind === 'pause' ? { kind: fault.kind, at } : { kind: fault.kind, share: fault.share, at };
  });
  const { network } = scenario;
  const isDelayed = scenario.service !== undefined || network !== undefined || faults.length > 0;
  const seed = scenario.seed ?? 1;
  const { unmade, ...traffic } = planTraffic(scenario, { cycleMs, within, duration, seed });
  const parts = {
    name: scenario.name ?? source.name,
    question: scenario.question,
    source,
    spec: scenario,
    seed,
    cycleMs,
    startCycle: scenario.start_cycle ?? 0,
    duration,
    drain: scenario.drain === undefined ? within : time(scenario.drain, '/drain'),
    warmUp: time(scenario.warm_up ?? 0, '/warm_up'),
    plan: limiter,
    within,
    keyed: scenario.keyed && {
      max_keys: scenario.keyed.max_keys,
      idle_cycles: time(scenario.keyed.idle_cycles ?? 60, '/keyed/idle_cycles'),
      overflow: scenario.keyed.overflow ?? 'refuse',
    },
    ...traffic,
    costs: scenario.costs && planCosts(scenario.costs),
    network: network && { oneWay: parseTimeLaw(network.one_way, cycleMs, '/network/one_way') },
    clients,
    senders: clients.length > 0 || !isDelayed ? clients : planClients([{ kind: 'open' }], cycleMs),
    faults,
    phases,
    target: scenario.target,
    notes: [
      ...(isText ? [`Limiter ${limitSentence({ ...(scenario.limiter as object) }, cycleMs)}.`] : []),
      ...[nearestWindow(windowOf(scenario), within, cycleMs)].filter((note) => note !== undefined),
      ...limiterNotes(scenario.limiter),
    ],
  };
  checkParts({ ...parts, arrivals: scenario.arrivals ?? [] }, unmade);
  const { compare: _, control: replaced, ...alone } = scenario;
  const control = replaced && controlOf(replaced, alone, source, cycleMs);
  const reading = {
    time,
    phases,
    contracts: parts.names,
    ...partsOf(parts),
    control: control && partsOf(control.scenario),
  };
  const loaded: LoadedScenario = {
    ...parts,
    expectations: (scenario.expect ?? []).map((spec, index) => parseExpectation(spec, `/expect/${index}`, reading)),
    compared: comparedWith(scenario, within, cycleMs).map((one) => ({
      ...one,
      scenario: plan({ ...alone, limiter: one.definition }, source, false, cycleMs, within),
    })),
    control,
    at: (other) => (other === cycleMs ? loaded : plan(scenario, source, isText, other)),
  };
  return loaded;
}

/** What the figures of a run have names for. */
function partsOf({ clients, senders, ...parts }: Pick<LoadedScenario, 'clients' | 'senders' | 'service' | 'costs'>) {
  return {
    clients: clients.map(({ name }) => name),
    absent: [
      ...(senders.length === 0 ? (['clients'] as const) : []),
      ...(['service', 'costs'] as const).filter((part) => parts[part] === undefined),
    ],
  };
}

function controlOf(
  { name, ...replaced }: NonNullable<PlannedScenario['control']>,
  { expect: _, ...scenario }: PlannedScenario,
  source: ScenarioSource,
  cycleMs: number,
) {
  try {
    return { name, scenario: plan({ ...scenario, ...replaced } as PlannedScenario, source, false, cycleMs) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.code, { ...error, what: error.what, faults: ofControl(replaced, error.faults) });
  }
}

const silence = { cycles: new Float64Array(0), counts: new Float64Array(0), origin: 0 };

type Setting = Pick<LoadedScenario, 'cycleMs' | 'within' | 'duration' | 'seed'>;

/** Makes each model once for the seed, so that all faults are found before a run. */
function planTraffic(
  { arrivals = [], contracts: given = 1, service }: PlannedScenario,
  { cycleMs, within, duration = MAX_CYCLES, seed }: Setting,
) {
  const unmade: Fault[] = [];
  const made = <T>(place: string, make: () => T): T[] => {
    try {
      return [make()];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      unmade.push(...error.faults.map(({ path, message }) => ({ path: `${place}${path}`, message })));
      return [];
    }
  };
  const even = planPopularity({ law: 'even' }, 1);
  const run = { draws: drawsOf(seed), purpose: 'check', cycles: duration, log: silence };
  const plans = arrivals.flatMap((spec, index) =>
    made('', () => {
      const plan = planArrival(spec, { cycleMs, within, place: `/arrivals/${index}` });
      // Functions are called only when the run begins.
      if (!plan.isCustom) plan.make(run);
      return plan;
    }),
  );
  const [served] = service === undefined ? [] : made('', () => planService(service, cycleMs));
  const contracts = typeof given === 'object' ? given : { count: given };
  const spec = contracts.popularity ?? { law: 'even' };
  const [popularity = even] = made('/contracts/popularity', () => planPopularity(spec, contracts.count));
  return {
    arrivals: plans,
    contracts: contracts.count,
    names: plans.some(({ log }) => log?.key_column !== undefined) ? undefined : namesOf(contracts.count),
    independent: contracts.independent ?? false,
    popularity,
    service: served,
    unmade,
  };
}

function namesOf(contracts: number): string[] {
  return contracts === 1 ? ['all'] : Array.from({ length: contracts }, (_, index) => String(index + 1));
}

/** As written; undefined for a definition, a rule, and the default window. */
function windowOf({ limiter = {} }: PlannedScenario): number | string | undefined {
  return followsRule(limiter) ? undefined : (limiter as { readonly within?: number | string }).within;
}

/** @throws Failure `invalid_input` if the limiter is not a window with a threshold */
function comparedWith({ limiter = {}, compare }: PlannedScenario, within: number, cycleMs: number) {
  if (compare === undefined) return [];
  const { definition, threshold = 100 } = limiter as { readonly definition?: unknown; readonly threshold?: number };
  if (definition !== undefined || followsRule(limiter))
    throw refused([
      { path: '/compare', message: 'needs a limiter with threshold and within, to which rules are fitted' },
    ]);
  const rules = [...new Set<Family>(['weir', ...compare])];
  return rules.map((rule) => ({ rule, definition: families[rule]({ limit: threshold, within, cycleMs }) }));
}

function planLimiter({ limiter = {} }: PlannedScenario, source: ScenarioSource, cycleMs: number): Plan {
  const given = limiter as Readonly<Record<string, unknown>>;
  const { definition, ...others } = given;
  if (definition === undefined || followsRule(limiter)) {
    return planContract(placed('/limiter', () => limiterDefinition(given, cycleMs)));
  }
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw refused([{ path: '/limiter/definition', message: `cannot be combined with ${other}` }]);
  }
  const written = typeof definition === 'string' ? readDefinition(definition, source) : definition;
  return placed('/limiter/definition', () => planContract(written));
}

function readBeside(file: string, source: ScenarioSource, place: string): string {
  try {
    return source.definition(file);
  } catch (error) {
    throw unread(file, place, error);
  }
}

function readDefinition(file: string, source: ScenarioSource): unknown {
  const place = '/limiter/definition';
  const text = readBeside(file, source, place);
  try {
    return readDocument(text, file).value;
  } catch (error) {
    throw unread(file, place, error);
  }
}

function unread(file: string, place: string, error: unknown): Failure {
  const why = error instanceof Failure ? error.why : (error as Error).message;
  return refused([{ path: place, message: `${file} cannot be read: ${why?.replace(/\.$/, '')}` }]);
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
