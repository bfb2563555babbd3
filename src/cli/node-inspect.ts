// `weir node inspect`: the node's definition of a template. With --as, and no node: as a starting point for a copy, as a machine for
// XState's visual tools, or as a diagram.
import type { Static } from 'typebox';
import { inspectRateLimiter } from '../api/contracts.js';
import { type ContractDefinition, isOnAggregate, type TransitionDefinition } from '../core/limiter/definition.js';
import { rateLimiter, TEMPLATE_ID } from '../core/limiter/rate-limiter.js';
import { Failure } from '../core/schema/failure.js';
import { readText } from '../core/schema/text-file.js';
import { type ClientKind, clientKinds } from '../harness/clients/client-schema.js';
import { choice, command, type GivenTo, text } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { say } from '../report/command/say.js';
import { facts, table } from '../report/command/terminal.js';
import { nodeCommand } from './node-command.js';

type Trigger = Static<typeof TransitionDefinition>['trigger'];

const options = {
  template: text('id of the template; with --as also the JSON file of a definition', {
    place: true,
    default: TEMPLATE_ID,
  }),
  as: choice(
    ['definition', 'xstate', 'mermaid'],
    "print it, without a node, as a definition to copy and change, as a machine for XState's visual tools, or as a state diagram in the Mermaid language",
    { without: ['url', 'json'] },
  ),
  client: choice(
    Object.keys(clientKinds) as ClientKind[],
    'the statechart of a kind of client: a diagram, or with --as xstate its machine',
    { without: ['url', 'json', 'template'] },
  ),
};

const fromNode = nodeCommand({
  isPublic: true,
  options,
  examples: [
    ['node inspect', 'the windowed rate limiter'],
    ['node inspect --json', 'the whole definition'],
    ['node inspect --as definition > contract.json', 'the same without a node, to change it'],
    ['node inspect contract.json --as xstate', 'the machine; its field meta.needs says how to run it'],
    ['node inspect contract.json --as mermaid', 'a diagram of a definition of your own'],
    ['node inspect --client retrying', 'a diagram of a client that retries'],
  ],
  run: async ({ anyone }, { template: id }) => {
    if (id !== TEMPLATE_ID) throw unknownTemplate(id);
    const answer = await anyone.call(inspectRateLimiter);
    const { name, version, category, states, transitions, parameters = {}, uses = [] } = answer.template;
    const about = facts([
      ['category', category],
      [
        'states',
        Object.entries(states)
          .map(([state, { initial }]) => (initial ? `${state} (initial)` : state))
          .join(', '),
      ],
      ['uses', uses.join('; ')],
    ]);
    const moves = table(
      ['from', 'to', 'when', 'within', 'operator', 'proof', 'emits'],
      transitions.map(({ from, to, trigger, operator, proof_required, post_actions = [] }) => [
        from,
        to,
        ...whenAndWithin(trigger),
        operator,
        proof_required === true ? 'yes' : 'no',
        post_actions.map(({ emit }) => emit).join(', '),
      ]),
    );
    const tunable = table(
      ['parameter', 'default', 'min', 'max', 'unit'],
      Object.entries(parameters).map(([key, one]) => [key, one.default, one.min, one.max, one.unit]),
    );
    return { answer, words: [`${id}: ${name} ${version}`, about, '', moves, '', tunable].join('\n') };
  },
});

function whenAndWithin(trigger: Trigger): [when: string, within: number | undefined] {
  if (trigger === undefined || trigger === null) return ['manual', undefined];
  return isOnAggregate(trigger)
    ? [trigger.condition, trigger.aggregate === 'count' ? trigger.within : undefined]
    : [trigger.kind, undefined];
}

export const inspect = command({
  ...fromNode,
  run: async (given, line) => {
    const { template, as, client } = given as GivenTo<typeof options>;
    if (client !== undefined) {
      if (as === 'definition') throw usageFailure('A client has no definition.', 'Say --as xstate or --as mermaid.');
      const [{ chartOf }, { clientDiagram }] = await Promise.all([
        import('../harness/clients/client-plan.js'),
        import('../harness/clients/client-diagram.js'),
      ]);
      const chart = chartOf(client);
      say(as === 'xstate' ? `${JSON.stringify(chart.config, null, 2)}\n` : clientDiagram(chart));
      return;
    }
    if (as === undefined) return fromNode.run(given, line);
    const [{ contractMachine }, { contractDiagram }, { planContract }] = await Promise.all([
      import('../core/limiter/contract-machine.js'),
      import('../core/limiter/state-diagram.js'),
      import('../core/limiter/validate.js'),
    ]);
    const { definition } = planContract(template === TEMPLATE_ID ? rateLimiter() : definitionFrom(template));
    if (as === 'mermaid') {
      say(contractDiagram(definition));
      return;
    }
    const { schemas: _, ...config } = contractMachine(definition).config;
    say(`${JSON.stringify(as === 'xstate' ? config : definition, null, 2)}\n`);
  },
});

function unknownTemplate(id: string): Failure {
  return new Failure('template_not_found', {
    what: `There is no template "${id}".`,
    fix: '`weir node inspect` shows the rate limiter; what is deployed on a machine is shown by `weir node contracts <slug>`.',
  });
}

function definitionFrom(file: string): ContractDefinition {
  const text = readText(file, { what: `The definition ${file}`, fix: 'Check the path.', isGiven: true });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Failure('invalid_json', {
      what: `The definition ${file} is not JSON.`,
      why: `${(error as Error).message}.`,
      fix: '`weir node inspect --json` shows one to begin with, as its template.',
      cause: error,
    });
  }
  if (typeof value === 'object' && value !== null) return value as ContractDefinition;
  throw new Failure('invalid_definition', { what: `The definition ${file} is JSON but not an object.` });
}
