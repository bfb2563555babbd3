// The schema of a scenario file. Published with the package as JSON Schema.
import type { Static } from 'typebox';
import { ContractDefinition } from '../../core/limiter/definition.js';
import { type Family, families } from '../../core/limiter/products/families.js';
import { ruleShapes, windowFields } from '../../core/limiter/products/limiter-spec.js';
import { FOLLOWING_SEED } from '../../core/math/seed.js';
import { TimeLawSpec } from '../../core/math/time-law.js';
import { exact, flag, real, text, whole } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { timeField } from '../../core/schema/quantity.js';
import { ClientsSpec } from '../clients/client-schema.js';
import { ExpectationSpec } from '../outcome/expectation.js';
import { ArrivalSpec } from '../traffic/arrival/arrival-schema.js';
import { PopularitySpec } from '../traffic/popularity.js';
import { CostsSpec } from './cost-plan.js';
import { ServiceSpec } from './service-plan.js';
import { type PresetName, targetPresets } from './target-presets.js';

export const WindowLimiter = exact('A window of requests, or a whole contract definition.', {
  ...windowFields,
  'definition?': Type.Union(
    [
      ContractDefinition,
      text(1, 4096, 'A JSON or YAML file of a contract definition, from the folder of the scenario.'),
    ],
    { description: 'A contract with states of its own, or its file.', examples: ['own.json'] },
  ),
});

const LimiterText = text(
  1,
  20_000,
  "As a text: '100 in 60s', 'nginx 10r/s burst=5', 'gcra 10/s burst=20', none, or a file.",
);

const Limiter = Type.Union([WindowLimiter, LimiterText, ...ruleShapes], {
  description: 'The limiter: a text, a window, a rule, a product by its name, or a piece of its configuration.',
});

const Contracts = exact('Contracts with the requests shared among them.', {
  count: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    description: 'How many contracts, all made from the limiter.',
    examples: [2],
  }),
  'popularity?': PopularitySpec,
  'independent?': flag('Whether each contract has the arrivals to itself, drawn apart, instead of sharing one stream.'),
});

const Keyed = exact(
  'One contract with keys instead of a contract for each: `weir load` deploys that, and sends each request with its key. A simulation may have fewer places than keys; without clients the requests of a cycle find places key by key.',
  {
    max_keys: whole(1, 10_000_000, 'The most keys at a time.'),
    'idle_cycles?': timeField('How long a key is remembered once its window is empty. Default: 60 cycles.'),
    'overflow?': Type.Enum(['refuse', 'share'], {
      description: 'What becomes of keys without a place. Default: refuse.',
    }),
  },
);

const Fault = Type.Union(
  [
    exact({
      kind: Type.Literal('pause', {
        description: 'The node stands still: it decides what came meanwhile when it goes on.',
      }),
      from: timeField('When it begins.'),
      to: timeField('When it is over.', '20s'),
    }),
    exact({
      kind: Type.Literal('lost_answers', { description: 'Requests are counted, but their answers never come.' }),
      share: real(0, 1, 'Share of the answers that is lost, by chance.'),
      'from?': timeField('When it begins. Default: 0.'),
      'to?': timeField('When it is over. Default: the end of the run.'),
    }),
    exact({
      kind: Type.Literal('slow', { description: 'Work of the service that begins meanwhile takes longer.' }),
      share: real(0.001, 1, 'Share of its speed that is left, as 0.2.'),
      from: timeField('When it begins.'),
      to: timeField('When it is over.', '20s'),
    }),
  ],
  { description: 'Something that goes wrong on the way.' },
);

const Phase = exact('A stretch of the run with a name, for expectations and figures.', {
  from: timeField('When the phase begins.'),
  to: timeField('When it is over; the cycle itself no longer belongs to it.', '20s'),
});

export const TargetSpec = exact('How to ask a live target that is no Weir node.', {
  'preset?': Type.Enum(Object.keys(targetPresets) as PresetName[], {
    description: `How a product answers: ${Object.entries(targetPresets)
      .map(([name, { words }]) => `${name} ${words}`)
      .join('. ')}. What else is given goes before it.`,
  }),
  'url?': text(1, 4096, 'Where it is, unless --url is given.'),
  'method?': Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'], {
    description: 'Method of a request. Default: GET.',
  }),
  'path?': Type.String({
    minLength: 1,
    maxLength: 4096,
    pattern: '^/',
    description: 'Path of a request. Default: the path of --url.',
  }),
  'headers?': Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }), Type.String({ maxLength: 4096 }), {
    maxProperties: 32,
    additionalProperties: false,
    description: 'Headers of a request.',
  }),
  'body?': Type.String({ maxLength: 65_536, description: 'Body of a request.' }),
  'key_header?': Type.String({
    pattern: '^[A-Za-z0-9-]{1,64}$',
    description: 'Header that names the contract, where there are several. Default: there is one, and no header.',
  }),
  'transport_ms?': real(
    0,
    3_600_000,
    'The most that a request and its answer are under way together, in ms, beyond what the limiter holds the request: then a delay that is too long is a difference, too. Default: any.',
  ),
  'limited_status?': Type.Array(whole(400, 599, 'A status.'), {
    minItems: 1,
    maxItems: 16,
    description: 'Statuses that mean limited. Default: 429.',
  }),
  'admitted_status?': Type.Array(whole(100, 599, 'A status.'), {
    minItems: 1,
    maxItems: 500,
    description: 'Statuses that mean admitted. Default: 200 to 399.',
  }),
});

const Arrivals = Type.Array(ArrivalSpec, {
  minItems: 1,
  maxItems: 64,
  description: 'When requests come; all models add up.',
});

const Network = exact(
  'What lies between clients and gate. Default: nothing, they hear of each other at once. `weir load` has the real one in its place.',
  {
    one_way: {
      ...TimeLawSpec,
      description:
        'How long a request is under way from the client to the gate, and its answer back: a time, or a law.',
    } as typeof TimeLawSpec,
  },
);

const Faults = Type.Array(Fault, { maxItems: 64, description: 'What goes wrong on the way.' });

const Control = exact(
  {
    minProperties: 2,
    examples: [{ name: 'without the overload', arrivals: [{ model: 'poisson', rate: '5/s' }] }],
    description:
      'The same run with these fields replaced, for a claim that one thing causes another: its figures are beside those of the run, and expectations compare them as control.limited, control.clients.succeeded.',
  },
  {
    name: Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'What is missing in it, as reports say it.',
      examples: ['without the overload'],
    }),
    'arrivals?': Arrivals,
    'clients?': ClientsSpec,
    'costs?': CostsSpec,
    'faults?': Faults,
    'limiter?': Limiter,
    'network?': Network,
    'service?': ServiceSpec,
  },
);

export const Scenario = exact(
  {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Weir scenario',
    description: 'One question about a windowed rate limiter, and all that is needed to answer it.',
  },
  {
    question: text(1, 1000, 'The question that the scenario asks.'),
    'name?': Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,63}$', description: 'Default: the name of the file.' }),
    'seed?': Type.Union(
      [
        Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
        Type.String({ pattern: FOLLOWING_SEED, maxLength: 128 }),
      ],
      {
        description:
          'All chance of the run follows from it: a whole number, or the seed of a replication, such as 77/2. Default: 1.',
      },
    ),
    'cycle_ms?': whole(
      1,
      86_400_000,
      'Length of a cycle in ms. Default: 777; for a window in ms, s, m, h or d the longest up to 777 of which it is a whole number.',
    ),
    'start_cycle?': whole(0, 1_000_000_000_000, 'Number of the first cycle in virtual time. Default: 0.'),
    'duration?': timeField('How long requests come. Default: as long as the arrivals last by themselves.'),
    'drain?': timeField('How long to look on afterwards. Default: the length of the window.'),
    'warm_up?': timeField('Figures of clients and service leave out what began before. Default: 0.'),
    'limiter?': Limiter,
    'contracts?': Type.Union([whole(1, 1_000_000, 'How many contracts, sharing evenly.'), Contracts], {
      description: 'How many contracts there are, and how requests are shared among them. Default: one.',
    }),
    'keyed?': Keyed,
    'arrivals?': Arrivals,
    'costs?': CostsSpec,
    'clients?': ClientsSpec,
    'service?': ServiceSpec,
    'network?': Network,
    'faults?': Faults,
    'control?': Control,
    'phases?': Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9_ -]{0,63}$' }), Phase, {
      maxProperties: 32,
      additionalProperties: false,
      description: 'Stretches of the run by name.',
    }),
    'target?': TargetSpec,
    'compare?': Type.Array(Type.Enum(Object.keys(families) as Family[]), {
      minItems: 1,
      maxItems: 16,
      description: 'Other rules, fitted to the threshold in the window: `weir simulate` runs the scenario with each.',
    }),
    'expect?': Type.Array(ExpectationSpec, { maxItems: 256, description: 'What the run must show.' }),
  },
);

export type Scenario = Static<typeof Scenario>;
export type TargetSpec = Static<typeof TargetSpec>;
