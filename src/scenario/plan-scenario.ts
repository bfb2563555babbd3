// Makes a scenario from its text or an object: parses it, checks it, and fills in numbers and defaults. Reads no file by itself.
import { type CustomClientSpec, planClients } from '../actor/client/client-plan.js';
import { type ClientSpec, clientFaults } from '../actor/client/client-schema.js';
import { type Plan, spanCycles } from '../limiter/plan.js';
import { type Family, families } from '../limiter/products/families.js';
import { followsRule, limiterDefinition, ruleLimiterFaults } from '../limiter/products/limiter-spec.js';
import { planContract } from '../limiter/validate.js';
import type { FindOperator } from '../operator/operator.js';
import { parseExpectation } from '../outcome/expectation.js';
import { parseStretch } from '../outcome/stretch.js';
import { compileSchema } from '../schema/compile-schema.js';
import { Failure, type Fault } from '../schema/failure.js';
import { cycleMsFor, nearestWindow, parseTime } from '../schema/quantity.js';
import { valueFaults } from '../schema/value-faults.js';
import { CYCLE_MS } from '../time/cycle.js';
import { type ArrivalSpec, arrivalFaults } from '../traffic/arrival/arrival-schema.js';
import type { ArrivalFunction, CustomArrivalSpec } from '../traffic/arrival/custom.js';
import { checkParts } from './check-scenario.js';
import { readDocument, type ScenarioDocument } from './document.js';
import { contractNames, type LoadedScenario, type PlannedFault, type ScenarioSource } from './loaded-scenario.js';
import { Scenario, WindowLimiter } from './scenario-schema.js';

const scenarioSchema = compileSchema(Scenario);

/**
 * A scenario as a value, for programs. Its fields are those of a scenario file. An arrival may also be a function, and a client may be
 * of kind `custom`, which a function defines.
 */
export type ScenarioObject = Omit<Scenario, 'arrivals' | 'clients'> & {
  readonly arrivals?: readonly (ArrivalSpec | ArrivalFunction)[] | undefined;
  readonly clients?: readonly (ClientSpec | CustomClientSpec)[] | undefined;
};

/**
 * @param given YAML or JSON text, or a value
 * @param findOperator the operators that a definition may name; default: the standard ones
 * @throws Failure `invalid_yaml`, `invalid_input` with the place of every fault, or those of `planContract`
 */
export function planScenario(
  given: string | ScenarioObject,
  source: ScenarioSource,
  findOperator?: FindOperator,
): LoadedScenario {
  const document = typeof given === 'string' ? readDocument(given, source.path) : documentOf(given);
  return planned(document, source, findOperator);
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

type PlannedScenario = Omit<ScenarioObject, 'arrivals'> & { readonly arrivals?: LoadedScenario['arrivals'] };

function planned(
  document: ScenarioDocument,
  source: ScenarioSource,
  findOperator: FindOperator | undefined,
): LoadedScenario {
  try {
    const faults = scenarioFaults(withoutFunctions(document.value));
    if (faults.length > 0) throw refused(faults);
    return plan(document.value as PlannedScenario, source, findOperator);
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

/**
 * The schema does not know functions. An arrival that is one is checked as a model without requests, a custom client by the fields
 * that it shares with an open one.
 */
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

/** Limiters, arrivals and clients have their own, more precise messages. */
function scenarioFaults(value: unknown): Fault[] {
  // The parameters of a rule have schemas of their own.
  if (scenarioSchema.fits(value)) {
    const { limiter } = value as Scenario;
    return followsRule(limiter) ? ruleLimiterFaults(limiter, '/limiter') : [];
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const found = value === null ? 'it is empty' : Array.isArray(value) ? 'it is a list' : 'it is a single value';
    return [{ path: '', message: `a scenario has fields, as question and arrivals, but ${found}` }];
  }
  const all = valueFaults(Scenario, value);
  const { limiter, arrivals, clients } = value as Readonly<Record<'limiter' | 'arrivals' | 'clients', unknown>>;
  const hasLimiter = typeof limiter === 'object' && limiter !== null && !Array.isArray(limiter);
  const faults = all.filter(
    ({ path }) => !/^\/(arrivals|clients)\/\d/.test(path) && !(hasLimiter && /^\/limiter\b/.test(path)),
  );
  if (hasLimiter) {
    const isRule = followsRule(limiter);
    faults.push(...(isRule ? ruleLimiterFaults(limiter, '/limiter') : valueFaults(WindowLimiter, limiter, '/limiter')));
  }
  if (Array.isArray(arrivals))
    faults.push(...arrivals.flatMap((one, index) => arrivalFaults(one, `/arrivals/${index}`)));
  if (Array.isArray(clients)) faults.push(...clients.flatMap((one, index) => clientFaults(one, `/clients/${index}`)));
  return faults.length > 0 ? faults : all;
}

function refused(faults: readonly Fault[]): Failure {
  return new Failure('invalid_input', { what: 'The scenario was refused.', faults });
}

function plan(
  scenario: PlannedScenario,
  source: ScenarioSource,
  findOperator: FindOperator | undefined,
  cycleMs = scenario.cycle_ms ?? cycleMsFor([windowOf(scenario)], CYCLE_MS),
): LoadedScenario {
  const time = (value: number | string, place: string, least = 0) => parseTime(value, cycleMs, place, least);
  const limiter = planLimiter(scenario, source, cycleMs, findOperator);
  const within = spanCycles(limiter, cycleMs);
  const duration = scenario.duration === undefined ? undefined : time(scenario.duration, '/duration', 1);
  const contracts = typeof scenario.contracts === 'object' ? scenario.contracts : { count: scenario.contracts ?? 1 };
  const phases = Object.fromEntries(
    Object.entries(scenario.phases ?? {}).map(([name, { from, to }]) => [
      name,
      parseStretch({ from, to }, `/phases/${name}`, time),
    ]),
  );
  const clients = planClients(scenario.clients ?? [], cycleMs, '/clients');
  const parts = {
    name: scenario.name ?? source.name,
    question: scenario.question,
    source,
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
    keyed: scenario.keyed && {
      max_keys: scenario.keyed.max_keys,
      idle_cycles: time(scenario.keyed.idle_cycles ?? 60, '/keyed/idle_cycles'),
      overflow: scenario.keyed.overflow ?? 'refuse',
    },
    arrivals: scenario.arrivals ?? [],
    clients,
    service: scenario.service,
    faults: (scenario.faults ?? []).map((fault, index): PlannedFault => {
      const at = parseStretch(fault, `/faults/${index}`, time);
      return fault.kind === 'pause' ? { kind: fault.kind, at } : { kind: fault.kind, share: fault.share, at };
    }),
    phases,
    target: scenario.target,
    notes: [nearestWindow(windowOf(scenario), within, cycleMs)].filter((note) => note !== undefined),
  };
  checkParts(parts);
  const reading = { time, phases, contracts: contractNames(parts), clients: clients.map(({ name }) => name) };
  const { compare: _, ...alone } = scenario;
  const loaded: LoadedScenario = {
    ...parts,
    expectations: (scenario.expect ?? []).map((spec, index) => parseExpectation(spec, `/expect/${index}`, reading)),
    compared: comparedWith(scenario, within, cycleMs).map((one) => ({
      ...one,
      // What follows from the window stays: a rule may have another, or none.
      scenario: {
        ...plan({ ...alone, limiter: one.definition, drain: alone.drain ?? within }, source, findOperator, cycleMs),
        within,
      },
    })),
    at: (other) => (other === cycleMs ? loaded : plan(scenario, source, findOperator, other)),
  };
  return loaded;
}

/** The length of the window as it is written; undefined for a definition, a rule, and the window of 60 cycles. */
function windowOf({ limiter = {} }: PlannedScenario): number | string | undefined {
  return followsRule(limiter) ? undefined : (limiter as { readonly within?: number | string }).within;
}

/** @throws Failure `invalid_input` if the limiter is no window with a threshold */
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

function planLimiter(
  { limiter = {} }: PlannedScenario,
  source: ScenarioSource,
  cycleMs: number,
  findOperator: FindOperator | undefined,
): Plan {
  const given = limiter as Readonly<Record<string, unknown>>;
  const { definition, ...others } = given;
  if (definition === undefined || followsRule(limiter)) {
    return planContract(
      placed('/limiter', () => limiterDefinition(given, cycleMs)),
      findOperator,
    );
  }
  const [other] = Object.keys(others).filter((name) => name !== 'template');
  if (other !== undefined) {
    throw refused([{ path: '/limiter/definition', message: `cannot be combined with ${other}` }]);
  }
  const written = typeof definition === 'string' ? readDefinition(definition, source) : definition;
  return placed('/limiter/definition', () => planContract(written, findOperator));
}

function readDefinition(file: string, source: ScenarioSource): unknown {
  try {
    return readDocument(source.definition(file), file).value;
  } catch (error) {
    const why = error instanceof Failure ? error.why : (error as Error).message;
    throw refused([{ path: '/limiter/definition', message: `${file} cannot be read: ${why?.replace(/\.$/, '')}` }]);
  }
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
