// `weir inspect`: the definition of a template.
import type { Static } from 'typebox';
import { inspectRateLimiter } from '../api/contracts.js';
import type { OnAggregate, TransitionDefinition } from '../limiter/definition.js';
import { TEMPLATE_ID } from '../limiter/rate-limiter.js';
import { Failure } from '../schema/failure.js';
import { nodeCommand } from './node-command.js';
import { facts, table } from './terminal.js';

type Trigger = Static<typeof TransitionDefinition>['trigger'];

export const inspectCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('template', { type: 'string', default: 'rate-limiter', describe: 'id of the template' })
      .example('$0 inspect', 'the windowed rate limiter')
      .example('$0 inspect --json', 'the whole definition'),
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

/** Of a trigger that this version knows; its kind for any other. */
function whenAndWithin(trigger: Trigger): [when: string, within: number | undefined] {
  if (trigger === undefined || trigger === null) return ['manual', undefined];
  if (trigger.kind !== 'on_aggregate') return [trigger.kind, undefined];
  const { condition, within } = trigger as Static<typeof OnAggregate>;
  return [condition, within];
}

function unknownTemplate(id: string): Failure {
  return new Failure('template_not_found', {
    what: `There is no template "${id}".`,
    fix: '`weir inspect` shows the rate limiter; what is deployed on a machine is shown by `weir contracts <slug>`.',
  });
}
