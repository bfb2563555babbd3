// `weir inspect`: the definition of a template, as the node has it; or to be copied and changed, its machine for XState's visual tools, or
// a diagram, which need no node.
import type { Static } from 'typebox';
import { inspectRateLimiter } from '../api/contracts.js';
import { isOnAggregate, type TransitionDefinition } from '../limiter/definition.js';
import { rateLimiter, TEMPLATE_ID } from '../limiter/rate-limiter.js';
import { Failure } from '../schema/failure.js';
import type { Command } from './command.js';
import { definitionFrom } from './deploy.js';
import { nodeCommand } from './node-command.js';
import { say } from './say.js';
import { facts, table } from './terminal.js';

type Trigger = Static<typeof TransitionDefinition>['trigger'];

const fromNode = nodeCommand({
  isPublic: true,
  options: (yargs) =>
    yargs
      .positional('template', {
        type: 'string',
        default: TEMPLATE_ID,
        describe: 'id of the template; with --definition, --xstate or --mermaid also the JSON file of a definition',
      })
      .option('definition', {
        type: 'boolean',
        describe: 'print the definition as JSON, to copy and change: a scenario names the file in limiter.definition',
      })
      .option('xstate', {
        type: 'boolean',
        describe: "print the machine as JSON, for XState's visual tools and contractMachine of the library",
      })
      .option('mermaid', { type: 'boolean', describe: 'print a state diagram in the Mermaid language' })
      .example('$0 inspect', 'the windowed rate limiter')
      .example('$0 inspect --json', 'the whole definition')
      .example('$0 inspect --definition > contract.json', 'the same without a node, to change it')
      .example('$0 inspect contract.json --xstate', 'the machine; its field meta.needs says how to run it')
      .example('$0 inspect contract.json --mermaid', 'a diagram of a definition of your own'),
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

/** The text of a trigger; only its kind if this version does not know it. */
function whenAndWithin(trigger: Trigger): [when: string, within: number | undefined] {
  if (trigger === undefined || trigger === null) return ['manual', undefined];
  return isOnAggregate(trigger)
    ? [trigger.condition, trigger.aggregate === 'count' ? trigger.within : undefined]
    : [trigger.kind, undefined];
}

export const inspectCommand: Command = {
  options: fromNode.options,
  rules: {
    without: {
      xstate: ['mermaid', 'definition'],
      mermaid: ['definition'],
      url: ['definition', 'xstate', 'mermaid'],
      json: ['definition', 'xstate', 'mermaid'],
    },
  },
  run: async (given: { template: string; definition?: boolean; xstate?: boolean; mermaid?: boolean }) => {
    const { template, xstate = false, mermaid = false } = given;
    if (!xstate && !mermaid && given.definition !== true) return fromNode.run(given);
    const [{ contractMachine }, { stateDiagram }, { planContract }] = await Promise.all([
      import('../actor/contract-machine.js'),
      import('../actor/state-diagram.js'),
      import('../limiter/validate.js'),
    ]);
    const { definition } = planContract(template === TEMPLATE_ID ? rateLimiter() : definitionFrom(template));
    if (mermaid) {
      say(stateDiagram(definition));
      return;
    }
    const { schemas: _, ...config } = contractMachine(definition).config;
    say(`${JSON.stringify(xstate ? config : definition, null, 2)}\n`);
  },
};

function unknownTemplate(id: string): Failure {
  return new Failure('template_not_found', {
    what: `There is no template "${id}".`,
    fix: '`weir inspect` shows the rate limiter; what is deployed on a machine is shown by `weir contracts <slug>`.',
  });
}
