// Reads a definition from the JSON of an XState machine: output of `weir node inspect --as xstate`, or hand-drawn.
//
//   states.allowing.tags: ['admits']                                        requests are admitted
//   states.allowing.on.request: { target, guard, actions }                  a trigger of that kind of event; `aggregate` is any kind
//   guard: { type: 'countIn', params: { event, within, condition } }        when; or `ranges` instead of `condition`
//   states.allowing.on.move: { target }                                     by hand; with a guard `asksFor { fires_when }` on a condition
//   actions: emit { event }, fire { operator, inputs, proof_required }      what follows
import { meantOr, nearest } from '../schema/did-you-mean.js';
import { Failure, type Fault, MOST_FAULTS } from '../schema/failure.js';
import type { Schema } from '../schema/json-schema.js';
import { isJsonObject, valueFaults } from '../schema/value-faults.js';
import { DrawnMachine, Edge, Params, State } from './drawn-machine.js';
import { unknownState } from './soundness.js';

const MOST_STATES = 64;
const MOST_EDGES = 600;

/** Only the first faults are formatted, because each takes time. */
class Faults {
  readonly #first: Fault[] = [];
  #all = 0;

  add(path: string, message: () => string): void {
    this.#all += 1;
    if (this.#all <= MOST_FAULTS) this.#first.push({ path: cut(path), message: cut(message()) });
  }

  refuse(): void {
    const [first] = this.#first;
    if (first === undefined) return;
    throw new Failure('invalid_definition', {
      what: 'The machine cannot be a contract.',
      why: `${first.path} ${first.message}${this.#all > 1 ? ` (and ${this.#all - 1} more)` : ''}.`,
      fix: '`weir node inspect --as xstate` prints a machine that is one.',
      faults: this.#first,
    });
  }
}

function cut(text: string): string {
  return text.length <= 500 ? text : `${text.slice(0, 500)}…`;
}

interface Drawn {
  readonly from: string;
  readonly event: string;
  readonly target: string;
  readonly guard: Call | undefined;
  readonly actions: readonly Call[];
  readonly path: string;
}

interface Call {
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export function isDrawn(input: unknown): input is Readonly<Record<string, unknown>> {
  if (!isJsonObject(input) || 'transitions' in input || !isJsonObject(input['states'])) return false;
  return typeof input['initial'] === 'string';
}

interface ReadDefinition {
  readonly definition: object;
  drawnPath(path: string): string;
}

/** @throws Failure `invalid_definition` for parts that have no meaning in a contract */
export function readDrawn(config: Readonly<Record<string, unknown>>): ReadDefinition {
  const faults = new Faults();
  const states = config['states'] as Readonly<Record<string, unknown>>;
  const names = Object.keys(states);
  const edges = Object.values(states).reduce((sum: number, state) => sum + edgesIn(state), 0);
  if (names.length > MOST_STATES) faults.add('/states', () => `has ${names.length} states; the most is ${MOST_STATES}`);
  if (edges > MOST_EDGES) faults.add('/states', () => `has ${edges} transitions; the most is ${MOST_EDGES}`);
  faults.refuse();
  refuseOthers(config, DrawnMachine, '', faults);
  for (const event of Object.keys(isJsonObject(config['on']) ? config['on'] : {})) {
    if (event !== 'refused')
      faults.add(`/on/${event}`, () => 'belongs to a state: contracts have no transitions from everywhere');
  }
  // If no state has tags, only the initial one admits, as in a definition.
  const isTagged = names.some((name) => tagsOf(states[name]) !== undefined);
  const admits = (name: string) =>
    isTagged ? tagsOf(states[name])?.includes('admits') === true : name === config['initial'];
  const drawn = names.flatMap((name) => transitionsOf(name, states[name], config, faults));
  const read = withMoves(drawn.map((one) => transitionOf(one, faults)));
  if (!Object.hasOwn(states, String(config['initial'])))
    faults.add('/initial', () => unknownState(String(config['initial']), names));
  const definition = (isJsonObject(config['meta']) ? config['meta']['definition'] : undefined) ?? {};
  if (!isJsonObject(definition)) faults.add('/meta/definition', () => 'must be an object');
  faults.refuse();
  return {
    definition: {
      name: config['id'] ?? 'drawn',
      version: config['version'] ?? '1.0',
      ...definition,
      states: Object.fromEntries(
        names.map((name) => [name, { initial: name === config['initial'], admits: admits(name) }]),
      ),
      transitions: read.map(({ transition }) => transition),
    },
    drawnPath: (path) => {
      const [, index, field = ''] = /^\/transitions\/(\d+)(.*)$/.exec(path) ?? [];
      if (index !== undefined) return `${read[Number(index)]!.path}${placeInEdge(field)}`;
      if (Object.hasOwn(definition, path.split('/')[1] ?? '')) return `/meta/definition${path}`;
      return path === '/name' ? '/id' : path;
    },
  };
}

function placeInEdge(field: string): string {
  if (/^\/(operator|inputs|proof_required|post_actions)/.test(field)) return '/actions';
  return field.replace(/^\/trigger|^(?=\/fires_when)/, '/guard/params').replace(/^\/to$/, '/target');
}

interface Read {
  /** Index of the transition in a config by Weir, which has one edge for triggers and one for moves. */
  readonly place: unknown;
  readonly isMove: boolean;
  readonly path: string;
  readonly transition: Readonly<Record<string, unknown>>;
}

/** A triggered transition can also be requested by hand: that edge adds only a condition. */
function withMoves(read: readonly Read[]): Read[] {
  const moves = new Map(
    read.flatMap(({ isMove, place, transition }) => (isMove ? [[place, transition] as const] : [])),
  );
  const triggered = new Set(read.flatMap(({ isMove, place }) => (isMove ? [] : [place])));
  const kept = read.filter(({ isMove, place }) => !isMove || place === undefined || !triggered.has(place));
  const ordered = kept.some(({ place }) => place === undefined)
    ? kept
    : [...kept].sort((a, b) => Number(a.place) - Number(b.place));
  return ordered.map((one) => {
    const { isMove, place, transition } = one;
    const also = isMove || place === undefined ? undefined : moves.get(place)?.['fires_when'];
    return also === undefined ? one : { ...one, transition: { ...transition, fires_when: also } };
  });
}

function transitionOf({ from, event, target, guard, actions, path }: Drawn, faults: Faults): Read {
  for (const action of actions) {
    if (action.type !== 'hold') checkCall(action, ['fire', 'emit'], `${path}/actions`, faults);
  }
  const fire = actions.find(({ type }) => type === 'fire')?.params ?? {};
  const emits = actions.filter(({ type }) => type === 'emit').map(({ params }) => ({ emit: params['event'] }));
  const common = {
    from,
    to: target,
    operator: fire['operator'] ?? 'KO42',
    ...(isJsonObject(fire['inputs']) && Object.keys(fire['inputs']).length > 0 ? { inputs: fire['inputs'] } : {}),
    ...(fire['proof_required'] === undefined ? {} : { proof_required: fire['proof_required'] }),
    post_actions: emits,
  };
  const place = fire['transition'];
  if (event === 'move') {
    if (guard !== undefined) checkCall(guard, ['asksFor'], `${path}/guard`, faults);
    const fires_when = guard?.params['fires_when'] ?? null;
    return { place, isMove: true, path, transition: { ...common, trigger: null, fires_when } };
  }
  if (guard === undefined) faults.add(`${path}/guard`, () => 'is missing; contracts have countIn here');
  else checkCall(guard, ['countIn'], `${path}/guard`, faults);
  const { event: counted = 'request', within = 60, condition, ranges, refused } = guard?.params ?? {};
  if (event !== 'aggregate' && guard?.params['event'] !== undefined && counted !== event)
    faults.add(`${path}/guard/params/event`, () => `must be ${event}, the event of the transition`);
  if ((condition === undefined) === (ranges === undefined))
    faults.add(`${path}/guard/params`, () => 'needs either `condition` or `ranges`');
  const name = refused === true ? 'refused' : 'count';
  const trigger = {
    kind: 'on_aggregate',
    event: event === 'aggregate' ? counted : event,
    aggregate: name,
    ...(refused === true ? {} : { within }),
    condition: condition ?? conditionOf(ranges, name, `${path}/guard/params/ranges`, faults),
  };
  return { place, isMove: false, path, transition: { ...common, trigger, fires_when: null } };
}

function checkCall({ type, params }: Call, known: readonly (keyof typeof Params)[], path: string, faults: Faults) {
  const name = known.find((one) => one === type);
  if (name === undefined) {
    faults.add(path, () => `names "${type}"; ${meantOr(type, known, `contracts have ${known.join(' and ')} here`)}`);
  } else
    for (const { path: at, message } of valueFaults(Params[name], params, `${path}/params`))
      faults.add(at, () => message);
}

function conditionOf(ranges: unknown, name: string, path: string, faults: Faults): string {
  const fits = Array.isArray(ranges) && ranges.length > 0;
  if (!fits || !ranges.every((one) => Array.isArray(one) && one[0] !== null)) {
    if (ranges !== undefined) faults.add(path, () => 'must be a list of [lowest, highest], whole numbers from 0');
    return `${name} < 0`;
  }
  const words = (ranges as [number, number | null][]).map(([lo, hi]) => {
    if (hi === null) return `${name} >= ${lo}`;
    if (lo === 0) return `${name} <= ${hi}`;
    return lo === hi ? `${name} == ${lo}` : `${name} >= ${lo} and ${name} <= ${hi}`;
  });
  return words.length === 1 ? words[0]! : words.map((one) => `(${one})`).join(' or ');
}

function transitionsOf(
  from: string,
  state: unknown,
  machine: Readonly<Record<string, unknown>>,
  faults: Faults,
): Drawn[] {
  const path = `/states/${from}`;
  if (!isJsonObject(state)) {
    faults.add(path, () => 'must be a state of a machine');
    return [];
  }
  refuseOthers(state, State, path, faults);
  const names = Object.keys(machine['states'] as object);
  const on = isJsonObject(state['on']) ? state['on'] : {};
  return Object.entries(on).flatMap(([event, given]) =>
    (Array.isArray(given) ? given : [given]).flatMap((one, index): Drawn[] => {
      const at = `${path}/on/${event}${Array.isArray(given) ? `/${index}` : ''}`;
      const edge = typeof one === 'string' ? { target: one } : one;
      if (!isJsonObject(edge)) {
        faults.add(at, () => 'must be a transition');
        return [];
      }
      refuseOthers(edge, Edge, at, faults);
      const guard = edge['guard'] === undefined ? undefined : callOf(edge['guard']);
      if (guard?.type === 'held') return [];
      const [written = from] = [edge['target']].flat();
      const target = plainTarget(String(written), machine['id']);
      if (!names.includes(target)) faults.add(`${at}/target`, () => unknownState(target, names));
      const actions = [edge['actions'] ?? []].flat().map(callOf);
      return [{ from, event, target, guard, actions, path: at }];
    }),
  );
}

function edgesIn(state: unknown): number {
  const on = isJsonObject(state) && isJsonObject(state['on']) ? state['on'] : {};
  return Object.values(on).flat().length;
}

/** Resolves `open`, `.open`, `#open` and `#<machine id>.open`. */
function plainTarget(target: string, id: unknown): string {
  return target.startsWith(`#${id}.`) ? target.slice(`#${id}.`.length) : target.replace(/^[.#]/, '');
}

function callOf(given: unknown): Call {
  if (typeof given === 'string') return { type: given, params: {} };
  const { type, params } = (isJsonObject(given) ? given : {}) as { type?: unknown; params?: unknown };
  return { type: String(type), params: isJsonObject(params) ? params : {} };
}

/** With places and words of their own. */
const checkedLater = new Set(['states', 'on', 'guard', 'actions', 'target']);

/** Accepts empty lists and defaults such as `type: atomic`, which editors write. */
function refuseOthers(
  node: object,
  { properties }: { readonly properties: Readonly<Record<string, object>> },
  path: string,
  faults: Faults,
): void {
  for (const [field, value] of Object.entries(node)) {
    const known: Schema | undefined = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (value === null || (Array.isArray(value) && value.length === 0)) continue;
    if (known === undefined || (known.const ?? value) !== value)
      faults.add(`${path}/${field}`, () => {
        if (known !== undefined)
          return `can only be ${JSON.stringify(known.const)}: a contract is in one of its states`;
        const guess = nearest(field, Object.keys(properties));
        const hint = guess === undefined ? '' : `; did you mean "${guess}"?`;
        return `has no meaning in a contract, whose time comes as events${hint}`;
      });
    else if (!checkedLater.has(field))
      for (const fault of valueFaults(known, value, `${path}/${field}`)) faults.add(fault.path, () => fault.message);
  }
}

function tagsOf(state: unknown): readonly unknown[] | undefined {
  return isJsonObject(state) && state['tags'] !== undefined ? [state['tags']].flat() : undefined;
}
