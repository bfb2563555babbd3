// Owns `weir inspect`: the definition of a template.
import { Failure } from '../schema/failure.js';
import { nodeCommand } from './node-command.js';
import { facts, table } from './table.js';

export const inspectCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('template', { type: 'string', default: 'rate-limiter', describe: 'id of the template' })
      .example('$0 inspect', 'the windowed rate limiter')
      .example('$0 inspect --json', 'the whole definition'),
  run: async ({ anyone }, { template: id }) => {
    const answer = await anyone.template(id).catch((error: unknown) => {
      throw error instanceof Failure && error.code === 'route_not_found' ? unknownTemplate(id) : error;
    });
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
        trigger?.condition ?? 'manual',
        trigger?.within,
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

function unknownTemplate(id: string): Failure {
  return new Failure('template_not_found', {
    what: `There is no template "${id}".`,
    fix: '`weir inspect` shows the rate limiter; what is deployed on a machine is shown by `weir contracts <slug>`.',
  });
}
