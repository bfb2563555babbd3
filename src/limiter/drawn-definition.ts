// A definition read from the JSON of an XState machine: one that `weir inspect --xstate` printed, or that somebody drew.
//
//   states.allowing.tags: ['admits']                                        requests are admitted
//   states.allowing.on.request: { target, guard, actions }                  a trigger of that kind of event; `aggregate` is any kind
//   guard: { type: 'countIn', params: { event, within, condition } }        when; or `ranges` in place of `condition`
//   states.allowing.on.move: { target }                                     by hand; with a guard `asksFor { fires_when }` on a condition
//   actions: emit { event }, fire { operator, inputs, proof_required }      what follows
import { Failure, type Fault } from '../schema/failure.js';

interface Edge {
  readonly from: string;
  readonly event: string;
  readonly target: string;
  readonly guard: Named | undefined;
  readonly actions: readonly Named[];
  readonly path: string;
}

/** A guard or an action: its name, and its parameters. */
interface Named {
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** What a state of a drawn machine may have: all else would mean something that a contract does not do. */
const STATE_FIELDS = ['on', 'tags', 'description', 'meta', 'id'];
const ROOT_FIELDS = [...STATE_FIELDS, 'initial', 'context', 'states', 'version', '$schema'];

/** Whether the input is the config of an XState machine and no definition. */
export function isDrawn(input: unknown): input is Readonly<Record<string, unknown>> {
  if (!isObject(input) || 'transitions' in input || !isObject(input['states'])) return false;
  return typeof input['initial'] === 'string';
}

/**
 * The definition of a drawn machine, to be checked as any other.
 * @throws Failure `invalid_definition` with every place that a contract has no meaning for
 */
export function definitionOf(config: Readonly<Record<string, unknown>>): object {
  const faults: Fault[] = [];
  const states = config['states'] as Readonly<Record<string, unknown>>;
  refuseOthers(config, ROOT_FIELDS, '', faults);
  const names = Object.keys(states);
  // Where nobody tagged a state, only the initial one admits, as in a definition.
  const isTagged = names.some((name) => tagsOf(states[name]) !== undefined);
  const admits = (name: string) =>
    isTagged ? tagsOf(states[name])?.includes('admits') === true : name === config['initial'];
  const edges = names.flatMap((name) => edgesOf(name, states[name], `/states/${name}`, faults));
  const transitions = edges.filter(({ guard }) => guard?.type !== 'held');
  const read = transitions.map((edge) => transitionOf(edge, faults));
  if (faults.length > 0) {
    throw new Failure('invalid_definition', {
      what: 'The machine cannot be a contract.',
      why: `${faults[0]!.path} ${faults[0]!.message}${faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''}.`,
      fix: '`weir inspect --xstate` prints a machine that is one.',
      faults,
    });
  }
  const { definition = {} } = (isObject(config['meta']) ? config['meta'] : {}) as { definition?: object };
  return {
    name: typeof config['id'] === 'string' ? config['id'] : 'drawn',
    version: typeof config['version'] === 'string' ? config['version'] : '1.0',
    ...definition,
    states: Object.fromEntries(
      names.map((name) => [name, { initial: name === config['initial'], admits: admits(name) }]),
    ),
    transitions: withMoves(read),
  };
}

interface Read {
  /** Of a config that Weir made: the place of its transition, which has an edge for triggers and one for moves. */
  readonly place: unknown;
  readonly isMove: boolean;
  readonly transition: Readonly<Record<string, unknown>>;
}

/** A transition with a trigger can be asked for by hand, too: its edge for that adds nothing but a condition. */
function withMoves(read: readonly Read[]): object[] {
  const moves = new Map(
    read.flatMap(({ isMove, place, transition }) => (isMove ? [[place, transition] as const] : [])),
  );
  const triggered = new Set(read.flatMap(({ isMove, place }) => (isMove ? [] : [place])));
  const kept = read.filter(({ isMove, place }) => !isMove || place === undefined || !triggered.has(place));
  const ordered = kept.some(({ place }) => place === undefined)
    ? kept
    : [...kept].sort((a, b) => Number(a.place) - Number(b.place));
  return ordered.map(({ isMove, place, transition }) => {
    const also = isMove || place === undefined ? undefined : moves.get(place)?.['fires_when'];
    return also === undefined ? transition : { ...transition, fires_when: also };
  });
}

function transitionOf({ from, event, target, guard, actions, path }: Edge, faults: Fault[]): Read {
  const fire = actions.find(({ type }) => type === 'fire')?.params ?? {};
  const emits = actions.filter(({ type }) => type === 'emit').map(({ params }) => ({ emit: params['event'] }));
  const unknown = actions.filter(({ type }) => !['fire', 'emit', 'hold'].includes(type));
  for (const { type } of unknown)
    faults.push({ path: `${path}/actions`, message: `names "${type}"; contracts have emit and fire` });
  const common = {
    from,
    to: target,
    operator: fire['operator'] ?? 'KO42',
    ...(isObject(fire['inputs']) && Object.keys(fire['inputs']).length > 0 ? { inputs: fire['inputs'] } : {}),
    ...(fire['proof_required'] === undefined ? {} : { proof_required: fire['proof_required'] }),
    post_actions: emits,
  };
  const place = fire['transition'];
  if (event === 'move') {
    const condition = guard?.type === 'asksFor' ? guard.params['fires_when'] : undefined;
    if (guard !== undefined && guard.type !== 'asksFor') faults.push(unknownGuard(path, guard, 'asksFor'));
    return { place, isMove: true, transition: { ...common, trigger: null, fires_when: condition ?? null } };
  }
  if (guard?.type !== 'countIn') faults.push(unknownGuard(path, guard, 'countIn'));
  const { event: counted, within = 60, condition, ranges, refused } = guard?.params ?? {};
  if ((condition === undefined) === (ranges === undefined))
    faults.push({ path: `${path}/guard/params`, message: 'needs either `condition` or `ranges`' });
  const name = refused === true ? 'refused' : 'count';
  const trigger = {
    kind: 'on_aggregate',
    event: event === 'aggregate' ? (counted ?? 'request') : event,
    aggregate: name,
    ...(refused === true ? {} : { within }),
    condition: condition ?? conditionOf(ranges, name, `${path}/guard/params/ranges`, faults),
  };
  return { place, isMove: false, transition: { ...common, trigger, fires_when: null } };
}

/** Closed ranges [lo, hi], hi null for no upper end, as a condition. */
function conditionOf(ranges: unknown, name: string, path: string, faults: Fault[]): string {
  const isEnd = (end: unknown) => end === null || (Number.isSafeInteger(end) && Number(end) >= 0);
  const fits = Array.isArray(ranges) && ranges.length > 0;
  if (!fits || !ranges.every((one) => Array.isArray(one) && one.length === 2 && one[0] !== null && one.every(isEnd))) {
    if (ranges !== undefined)
      faults.push({ path, message: 'must be a list of [lowest, highest], whole numbers from 0' });
    return `${name} < 0`;
  }
  const words = (ranges as [number, number | null][]).map(([lo, hi]) => {
    if (hi === null) return `${name} >= ${lo}`;
    return lo === hi ? `${name} == ${lo}` : `${name} >= ${lo} and ${name} <= ${hi}`;
  });
  return words.length === 1 ? words[0]! : words.map((one) => `(${one})`).join(' or ');
}

function edgesOf(from: string, state: unknown, path: string, faults: Fault[]): Edge[] {
  if (!isObject(state)) {
    faults.push({ path, message: 'must be a state of a machine' });
    return [];
  }
  refuseOthers(state, STATE_FIELDS, path, faults);
  const on = isObject(state['on']) ? state['on'] : {};
  return Object.entries(on).flatMap(([event, given]) =>
    (Array.isArray(given) ? given : [given]).flatMap((one, index): Edge[] => {
      const at = `${path}/on/${event}${Array.isArray(given) ? `/${index}` : ''}`;
      const edge = typeof one === 'string' ? { target: one } : one;
      if (!isObject(edge)) {
        faults.push({ path: at, message: 'must be a transition' });
        return [];
      }
      const guard = edge['guard'] === undefined ? undefined : named(edge['guard']);
      if (event === 'refused' || guard?.type === 'held') return [];
      const target = String(edge['target'] ?? from).replace(/^[.#]/, '');
      const actions = edge['actions'] === undefined ? [] : [edge['actions']].flat().map(named);
      return [{ from, event, target, guard, actions, path: at }];
    }),
  );
}

function named(given: unknown): Named {
  if (typeof given === 'string') return { type: given, params: {} };
  const { type, params } = (isObject(given) ? given : {}) as { type?: unknown; params?: unknown };
  return { type: String(type), params: isObject(params) ? params : {} };
}

function unknownGuard(path: string, guard: Named | undefined, known: string): Fault {
  const what = guard === undefined ? 'is missing' : `names "${guard.type}"`;
  return { path: `${path}/guard`, message: `${what}; contracts have ${known} here` };
}

function refuseOthers(node: object, known: readonly string[], path: string, faults: Fault[]): void {
  for (const field of Object.keys(node)) {
    if (known.includes(field)) continue;
    faults.push({ path: `${path}/${field}`, message: 'has no meaning in a contract, whose time comes as events' });
  }
}

function tagsOf(state: unknown): readonly unknown[] | undefined {
  return isObject(state) && state['tags'] !== undefined ? [state['tags']].flat() : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
