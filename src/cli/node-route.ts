// A command of `weir node` made of a route: its path, query and body are arguments and options by their schemas, its answer is text.
import type { AnyAsk, ApiClient } from '../api/client/api-client.js';
import { DEFAULT_URL } from '../api/client/base-url.js';
import * as named from '../api/client/endpoints.js';
import type { NodeClient } from '../api/client/node-client.js';
import { listContracts } from '../api/contracts.js';
import type { Endpoint } from '../api/endpoint.js';
import { getMachine } from '../api/machines.js';
import { readClock } from '../api/node.js';
import { limitText } from '../core/limiter/products/limit-text.js';
import { Failure } from '../core/schema/failure.js';
import type { Schema } from '../core/schema/json-schema.js';
import { answerText } from '../report/command/answer.js';
import * as line from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { limit, limiterGiven } from '../report/command/limit.js';
import { allow, bodyOf, durationIn, fields, inputs, readMs } from '../report/command/options.js';
import { type Printed, print } from '../report/command/print.js';
import { warn } from '../report/command/say.js';
import { spanWords } from '../report/words.js';

type Given = Readonly<Record<string, unknown>>;

export type RouteName = keyof typeof named;

const endpoints: Readonly<Record<RouteName, Endpoint>> = named;

/** Arguments and options, by the field of a route. Other fields are given by --set. */
const words: Readonly<Record<string, string>> = {
  ...{ slug: 'machine', to: 'to', scopes: 'scopes', machine: 'machine', type: 'type', count: 'count', steps: 'count' },
  ...{ cycle: 'cycle', base_cycle: 'cycle', after: 'after', limit: 'top', name: 'name', display_name: 'name' },
  ...{ contract_id: 'contract', key_id: 'key', id: 'name', operators: 'name', template_id: 'name' },
  ...{ threshold: 'threshold', within: 'within', cycles: 'within', hold_cycles: 'for', overlap_seconds: 'keep' },
  ...{ expires_in_days: 'for', key: 'client', peek: 'peek', input: 'set', inputs: 'set' },
  ...{ limiter: 'limit', rule: 'limit' },
};

/** Fields that are times, and their unit in ms. */
const units: Readonly<Record<string, number | 'cycle'>> = {
  ...{ within: 'cycle', cycles: 'cycle', hold_cycles: 'cycle', overlap_seconds: 1_000, expires_in_days: 86_400_000 },
};

/** Parts of an answer that only programs read. */
const unshown = new Set(['ok', 'definition', 'template_id', 'by_operator', 'next']);

interface Ask {
  readonly params: Given;
  readonly query?: Given;
  readonly body?: Given;
}

interface Field {
  readonly name: string;
  readonly part: 'params' | 'query' | 'body';
  readonly schema: Schema;
  readonly isRequired: boolean;
  /** Its argument or option; undefined for --set. */
  readonly word: string | undefined;
}

/** An answer, and what a person sees: the whole with `beside`, or `words`. */
interface Answered extends Partial<Printed> {
  readonly beside?: Given;
}

/** What a command has besides its route. */
export interface Besides {
  readonly examples: line.Command['examples'];
  /** Whether it sends no credential. */
  readonly isPublic?: true;
  readonly options?: line.Options;
  /** Values of fields that are not given. */
  readonly preset?: Given;
  /** Columns of its tables, in this order. */
  readonly columns?: readonly string[];
  /** The route for one of them, called where its argument is given. */
  readonly one?: { readonly route: RouteName; readonly columns?: readonly string[] };
  /** In place of the call. */
  readonly run?: (node: NodeClient, ask: Ask, given: Given) => Promise<Answered>;
}

const common = {
  url: line.text(`address of the node (default: WEIR_URL, or ${DEFAULT_URL})`),
  json: line.flag('print the answer of the node as it is, for programs: openapi.json'),
};
const insecure = { allow: allow({ 'plain-http': 'the key sent to another machine in the clear' }) };

/** `run` returns undefined if it has printed everything itself. */
export function nodeCommand<Known extends line.Options>(parts: {
  readonly options: Known;
  readonly examples: line.Command['examples'];
  readonly isPublic?: true | undefined;
  readonly run: (node: NodeClient, given: line.GivenTo<Known & typeof common>) => Promise<Printed | undefined>;
}): line.Command {
  const { options, examples, isPublic, run } = parts;
  return {
    options: { ...common, ...(isPublic ? {} : insecure), ...options },
    examples,
    run: async (given: Given) => {
      const { connectFromFolder } = await import('../api/client/node-client.js');
      const { WEIR_URL, WEIR_KEY } = process.env;
      const node = await connectFromFolder({
        url: (given['url'] as string | undefined) ?? (WEIR_URL || DEFAULT_URL),
        key: WEIR_KEY || undefined,
        insecure: given['allow'] !== undefined,
      });
      try {
        for (const note of node.notes) warn(`weir: ${note}\n`);
        const printed = await run(node, given as line.GivenTo<Known & typeof common>);
        if (printed !== undefined) print(printed, given['json'] === true);
      } finally {
        await node.close();
      }
    },
  };
}

export function routeCommand(route: RouteName, besides: Besides): line.Command {
  const { examples, isPublic, preset = {}, columns } = besides;
  const endpoint = endpoints[route];
  const one = besides.one && { ...besides.one, endpoint: endpoints[besides.one.route] };
  const options = routeOptions(one === undefined ? [endpoint] : [one.endpoint, endpoint], preset);
  const run = async (node: NodeClient, given: Given) => {
    const isGiven = ({ part, word }: Field) => part !== 'params' || given[word!] !== undefined;
    const called = one !== undefined && fieldsOf(one.endpoint).every(isGiven) ? one : { endpoint, columns };
    const ask = await askOf(node, called.endpoint, given, preset);
    const call = async () => ({ answer: await answerTo(isPublic ? node.anyone : node.api, called.endpoint, ask) });
    const answered: Answered = await (besides.run?.(node, ask, given) ?? call());
    return { ...(await wordsOf(node, called, answered)), ...answered, answer: answered.answer ?? { ok: true } };
  };
  return nodeCommand({ options: { ...options, ...besides.options }, examples, isPublic, run });
}

/** Arguments first. What only one of several routes needs may be left out. */
export function routeOptions(endpoints: readonly Endpoint[], preset: Given = {}): line.Options {
  const all = endpoints.map(fieldsOf);
  const options = new Map<string, line.Option>();
  for (const field of all.flat()) {
    const { name, part, word, schema } = field;
    if (word === undefined || options.has(word)) continue;
    // A machine with one contract needs no name of it, except to delete it.
    const isOnlyOne = name === 'contract_id' && endpoints.some(({ method }) => method !== 'DELETE');
    const isIn = (fields: Field[]) => fields.some((one) => one.name === name && one.isRequired);
    const isRequired = !isOnlyOne && !(name in preset) && all.every(isIn);
    const isPlace = isOnlyOne || isRequired || part === 'params' || schema.type === 'array';
    const isOfLimit = ['threshold', 'within'].includes(name) && all.flat().some((one) => one.word === 'limit');
    const said: line.About = {
      ...(isPlace && { place: true }),
      ...(isRequired && { required: true }),
      ...(name in preset && { default: preset[name] as string }),
      ...(isOfLimit && { without: ['limit'] }),
    };
    const option = optionOf(field, said);
    const description = `${option.description}; needed where the machine has several`;
    options.set(word, isOnlyOne ? { ...option, description } : option);
  }
  const order = ({ place, required }: line.Option) => (place ? (required ? 0 : 1) : 2);
  const sorted = [...options].sort(([, first], [, second]) => order(first) - order(second));
  const others = all.flat().flatMap(({ name, word }) => (word === undefined ? [name] : []));
  return { ...Object.fromEntries(sorted), ...(others.length > 0 && { set: fields(others.join(', ')) }) };
}

function fieldsOf({ shapes: { params, querystring, body } = {} }: Endpoint): Field[] {
  return Object.entries({ params, query: querystring, body }).flatMap(([part, shape]) => {
    const { properties = {}, required = [] } = (shape ?? {}) as Schema;
    return Object.entries(properties).flatMap(([name, schema]): Field[] => {
      // The command gives both by --limit, which reads files, too.
      if (name === 'definition' || (name === 'limit' && schema.type === 'string')) return [];
      return [{ name, part: part as Field['part'], schema, isRequired: required.includes(name), word: words[name] }];
    });
  });
}

function optionOf({ name, word, schema }: Field, said: line.About): line.Option {
  const { type, description = '', minimum = 0, maximum = Number.MAX_SAFE_INTEGER, items = {} } = schema;
  const about = `${description.charAt(0).toLowerCase()}${description.slice(1)}`.replace(/\.$/, '');
  const choices = (schema.enum ?? items.enum) as readonly string[] | undefined;
  if (word === 'limit') return limit;
  if (word === 'set') return inputs;
  if (name in units)
    return line.text(`${about} (a number, or a time: ${units[name] === 'cycle' ? '47s' : '7d'})`, said);
  if (type === 'boolean') return line.flag(about, said);
  if (type === 'integer') return line.whole(minimum, maximum, about, said);
  const one = choices === undefined ? line.text(about, said) : line.choice(choices, about, said);
  return type === 'array' ? line.several(one) : one;
}

/** What is asked of a route, by the options that are given. */
export async function askOf(node: NodeClient, endpoint: Endpoint, given: Given, preset: Given = {}): Promise<Ask> {
  const all = fieldsOf(endpoint);
  const ask: Record<Field['part'], Record<string, unknown>> = { params: {}, query: {}, body: {} };
  for (const { name, part, word } of all) {
    const value = (word === undefined ? undefined : given[word]) ?? preset[name];
    if (value !== undefined) Object.assign(ask[part], await valuesOf(node, name, value));
    else if (name === 'contract_id' && part === 'params')
      ask.params[name] = await onlyContract(node.api, ask.params['slug']);
  }
  const set = all.some(({ word }) => word === 'set') ? {} : bodyOf(given['set'] as [string, string][]);
  const { querystring, body } = endpoint.shapes ?? {};
  Object.assign(body === undefined ? ask.query : ask.body, set);
  return { params: ask.params, ...(querystring && { query: ask.query }), ...(body && { body: ask.body }) };
}

async function valuesOf(node: NodeClient, name: string, value: unknown): Promise<Given> {
  const unit = units[name];
  const word = words[name]!;
  if (word === 'limit' && typeof value === 'string') {
    const { definition, ...limiter } = await limiterGiven(value);
    return definition === undefined ? { [name]: limiter } : { definition };
  }
  if (word === 'set') return { [name]: Object.fromEntries(value as [string, number][]) };
  if (unit === undefined || typeof value !== 'string') return { [name]: value };
  if (unit !== 'cycle') return { [name]: /^[\d.]+$/.test(value) ? Number(value) : readMs(value, word) / unit };
  const isInCycles = /^\s*[\d.]+\s*(cycles?)?\s*$/.test(value);
  return { [name]: durationIn(word, value, isInCycles ? 1 : await cycleMsOfNode(node)) };
}

export async function cycleMsOfNode({ anyone }: NodeClient): Promise<number> {
  return (await anyone.call(readClock)).cycle_ms;
}

/** The node asks for its field `key`; the option is `--client`. */
export async function answerTo(api: ApiClient, endpoint: Endpoint, ask: AnyAsk): Promise<unknown> {
  try {
    return (await api.send(endpoint, ask)).body;
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'key_missing') throw error;
    const { code, what, why, faults } = error;
    throw new Failure(code, { what, why, fix: 'Say who asks: --client 203.0.113.7.', faults });
  }
}

/** An empty answer is said by its description. */
async function wordsOf(
  node: NodeClient,
  { endpoint, columns }: { readonly endpoint: Endpoint; readonly columns?: readonly string[] | undefined },
  { answer, beside }: Answered,
) {
  const shown = { ...(answer as Given | undefined), ...beside };
  const hasCycles = /"(within|\w+_cycles)":\d/.test(JSON.stringify(shown));
  const cycleMs = hasCycles ? await cycleMsOfNode(node) : 0;
  const write = (name: string, value: unknown) => {
    if (unshown.has(name)) return undefined;
    if (name === 'limiter') return limitText(value as object);
    const isOfChange = (name === 'from' || name === 'to') && typeof value === 'string' && value.startsWith('{"');
    if (isOfChange) return limitText(JSON.parse(value));
    return typeof value === 'number' && /^within$|_cycles$/.test(name) ? spanWords(value, cycleMs) : value;
  };
  const words = answerText(shown, write, columns) || Object.values(endpoint.answers)[0]!.description;
  const { next } = shown as { readonly next?: unknown };
  return { words, note: next === undefined ? undefined : `there are more: --after ${next}` };
}

async function onlyContract(api: ApiClient, given: unknown): Promise<string> {
  const slug = String(given);
  const { contracts } = await api.call(listContracts, { params: { slug } });
  const ids = contracts.map(({ id }) => id);
  if (ids.length === 1) return ids[0]!;
  const some = `${ids.slice(0, 5).join(', ')}${ids.length > 5 ? ', …' : ''}`;
  if (ids.length > 1)
    throw usageFailure(`The machine ${slug} has several contracts: ${some}.`, `Name one of them after ${slug}.`);
  const { machine } = await api.call(getMachine, { params: { slug } });
  throw machine.deleted_at === undefined
    ? usageFailure(`The machine ${slug} has no contract: \`weir node deploy ${slug}\` deploys one.`)
    : usageFailure(`The machine ${slug} was deleted.`, 'Deploy onto another: a slug is used once.');
}
