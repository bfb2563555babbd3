// The sliders of the playground. Each edits one number in the text of a scenario and leaves all other text unchanged.
//
//   - { model: poisson, rate: 9/s, to: 20s }        slider "poisson rate", 9, unit /s
//                             ^ 12                  the text with another number
import { type Document, isScalar, parseDocument } from 'yaml';
import { families } from '../../core/limiter/products/families.js';
import { backoffPolicies } from '../../harness/clients/backoff.js';

type Path = readonly (string | number)[];

export interface Slider {
  readonly group: 'Requests' | 'Limiter' | 'Clients' | 'Service';
  readonly label: string;
  readonly path: Path;
  readonly value: number;
  /** Text after the number: `/s`, ` per 2 cycles`, `ms`. */
  readonly unit: string;
  readonly isWhole: boolean;
  readonly by?: number;
}

export interface Controls {
  readonly sliders: readonly Slider[];
  /** Of the first clients with a back-off; undefined if no client retries. */
  readonly backoff: string | undefined;
  /** The clients have a back-off, or there are no clients yet. */
  readonly takesBackoff: boolean;
  readonly compared: readonly string[];
  /** The limiter is a window, so other rules can be fitted to it. */
  readonly takesRules: boolean;
}

export const policies = backoffPolicies;
export const rules = Object.keys(families).filter((name) => name !== 'weir');

const fields = {
  arrivals: ['rate', 'base_rate', 'burst_rate', 'on_rate', 'off_rate', 'start_rate', 'end_rate', 'requests', 'for'],
  clients: ['count', 'timeout', 'max_attempts', 'jitter', 'buffer'],
} as const;

/** Undefined if the text is not a YAML map. */
export function controlsOf(text: string): Controls | undefined {
  const document = parseDocument(text, { logLevel: 'error' });
  if (document.errors.length > 0) return undefined;
  const scenario: unknown = document.toJS();
  if (typeof scenario !== 'object' || scenario === null || Array.isArray(scenario)) return undefined;
  const { arrivals, limiter, clients, service, compare } = scenario as Readonly<Record<string, unknown>>;
  const at = atIn(scenario);
  const retrying = listed(clients).findIndex((client) => valueAt(client, ['kind']) === 'retrying');
  const isWindow =
    limiter === undefined ||
    (isObject(limiter) && !['like', 'primitive', 'paste', 'and', 'definition'].some((name) => name in limiter));
  const sliders = [
    ...listed(arrivals).flatMap((arrival, index, all) => {
      const model = valueAt(arrival, ['model']);
      const from = valueAt(arrival, ['from']);
      const isOneOfSeveral = all.filter((other) => valueAt(other, ['model']) === model).length > 1;
      const when = isOneOfSeveral && from !== undefined ? ` from ${from}` : '';
      return fields.arrivals.flatMap((field) =>
        at('Requests', `${arrivalLabel(String(model), field)}${when}`, ['arrivals', index, field]),
      );
    }),
    ...(isWindow
      ? [
          ...at('Limiter', 'threshold', ['limiter', 'threshold'], 100),
          ...at('Limiter', 'window', ['limiter', 'within'], 60),
        ]
      : [
          ...numbersIn(limiter).flatMap((field) => at('Limiter', spaced(field), ['limiter', field])),
          ...numbersIn(valueAt(limiter, ['params'])).flatMap((field) =>
            at('Limiter', spaced(field), ['limiter', 'params', field]),
          ),
        ]),
    ...listed(clients).flatMap((client, index) => {
      const name = String(valueAt(client, ['name']) ?? valueAt(client, ['kind']));
      const pauses = valueAt(client, ['backoff', 'policy']) ?? 'none';
      return [
        ...fields.clients.flatMap((field) => at('Clients', `${name} ${spaced(field)}`, ['clients', index, field])),
        ...(pauses === 'none' ? [] : at('Clients', 'first pause', ['clients', index, 'backoff', 'base'], '100ms')),
        ...at('Clients', 'retry budget', ['clients', index, 'retry_budget', 'share']),
        ...at('Clients', 'flush spread', ['clients', index, 'flush', 'spread']),
      ];
    }),
    ...(isObject(service)
      ? [...at('Service', 'servers', ['service', 'servers']), ...at('Service', 'time', ['service', 'time', 'mean'])]
      : []),
  ];
  const policy = retrying < 0 ? undefined : valueAt(listed(clients)[retrying], ['backoff', 'policy']);
  return {
    sliders,
    backoff: retrying < 0 ? undefined : String(policy ?? 'full_jitter'),
    takesBackoff: retrying >= 0 || listed(clients).length === 0,
    compared: listed(compare).map(String),
    takesRules: isWindow,
  };
}

export function slid(text: string, { path, unit }: Slider, value: number): string {
  return written(text, path, unit === '' ? value : `${value}${unit}`);
}

export function comparing(text: string, names: readonly string[]): string {
  return names.length === 0 ? without(text, ['compare']) : written(text, ['compare'], [...names]);
}

/** The requests sent through every rule. */
export const TRAFFIC = comparing(
  `question: What does each rule do with the same requests?
seed: 4
cycle_ms: 500
duration: 40s
limiter: { threshold: 100, within: 10s }
arrivals:
  - { model: poisson, rate: 6/s }
  - { model: burst, burst_rate: 30/s, at: 12s, for: 5s }
`,
  Object.keys(families),
);

/** Sets the policy. Adds retrying clients if there are none; `undefined` removes them. */
export function backingOff(text: string, policy: string | undefined): string {
  const clients = listed(valueAt(parseDocument(text, { logLevel: 'error' }).toJS(), ['clients']));
  const retrying = clients.findIndex((client) => valueAt(client, ['kind']) === 'retrying');
  if (policy === undefined) {
    return clients.length === 1 ? without(text, ['clients']) : without(text, ['clients', retrying]);
  }
  if (retrying >= 0) return written(text, ['clients', retrying, 'backoff', 'policy'], policy);
  return written(text, ['clients'], [{ kind: 'retrying', max_attempts: 5, backoff: { policy, base: '5s' } }]);
}

export function askedAt(text: string, atMs: number): string {
  const document = parseDocument(text, { logLevel: 'error' });
  const arrivals = listed(valueAt(document.toJS(), ['arrivals']));
  const one = document.createNode({ model: 'spikes', requests: 1, at: `${Math.floor(atMs)}ms` });
  Object.assign(one, { flow: true });
  document.setIn(['arrivals', arrivals.length], one);
  return asText(document);
}

/** Replaces an existing value in place; adds a missing one in YAML's formatting. */
function written(text: string, path: Path, value: unknown): string {
  const document = parseDocument(text, { logLevel: 'error' });
  const node = document.getIn(path, true);
  if (isScalar(node) && node.range && (typeof value === 'number' || typeof value === 'string')) {
    const [from, to] = node.range;
    return `${text.slice(0, from)}${value}${text.slice(to)}`;
  }
  const added = document.createNode(value);
  if (Array.isArray(value)) Object.assign(added, { flow: value.every((one) => typeof one === 'string') });
  document.setIn(path, added);
  return asText(document);
}

function without(text: string, path: Path): string {
  const document = parseDocument(text, { logLevel: 'error' });
  document.deleteIn(path);
  return asText(document);
}

function asText(document: Document): string {
  return document.toString({ lineWidth: 0 });
}

function atIn(scenario: object) {
  return (group: Slider['group'], label: string, path: Path, otherwise?: number | string): Slider[] => {
    const [, digits, unit = ''] =
      /^\s*(\d+(?:\.\d+)?)(\D.*)?$/s.exec(String(valueAt(scenario, path) ?? otherwise)) ?? [];
    if (digits === undefined) return [];
    const value = Number(digits);
    const field = String(path.at(-1));
    const isWhole = /^(threshold|requests|count|buffer|max_attempts|servers|burst|limit)$/.test(field) || value >= 20;
    return [{ group, label, path, value, unit, isWhole }];
  };
}

function arrivalLabel(model: string, field: string): string {
  const words = field === 'for' ? 'length' : spaced(field);
  return words.startsWith(model) ? words : `${model} ${words}`;
}

function numbersIn(value: unknown): string[] {
  if (!isObject(value)) return [];
  return Object.keys(value).filter((name) => /^\d/.test(String(value[name])) && name !== 'cycle_ms');
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((place, step) => (isObject(place) ? place[step] : undefined), value);
}

function isObject(value: unknown): value is Readonly<Record<string | number, unknown>> {
  return typeof value === 'object' && value !== null;
}

const listed = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const spaced = (name: string) => name.replaceAll('_', ' ');
