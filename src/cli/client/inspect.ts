// Owns `weir inspect`: the definition of a template.
import { nodeCommand } from './command.js';
import { facts, table } from './table.js';

export const inspectCommand = nodeCommand({
  command: 'inspect [template]',
  describe: 'show a template: states, transitions, operators, parameters',
  options: (yargs) =>
    yargs
      .positional('template', { type: 'string', default: 'rate-limiter', describe: 'id of the template' })
      .example('$0 inspect', 'the windowed rate limiter')
      .example('$0 inspect --json', 'the whole definition'),
  run: async ({ anyone }, { template: id }) => {
    const answer = await anyone.template(id);
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
