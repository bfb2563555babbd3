// The state diagram of a kind of client.
import { after, type DiagramArrow, stateDiagram } from '../../core/limiter/state-diagram.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import type { ClientChart } from './client-chart.js';

/** Events with the same effect share an arrow: `limited, timeout [tries again] / pause`. */
export function clientDiagram({ config }: ClientChart): string {
  const arrows = Object.entries(config.states).flatMap(([from, { on = {}, always = [] }]) => {
    const events = new Map<string, { readonly arrow: DiagramArrow; readonly names: string[] }>();
    for (const [event, edges] of [...Object.entries(on), ['always', always] as const]) {
      for (const { guard, target = from, actions = [] } of edges) {
        const label = `${guard === undefined ? '' : ` [${words(guard)}]`}${after(actions.map(words))}`;
        const key = `${target} ${label}`;
        const { names } = getOrInsert(events, key, () => ({ arrow: { from, to: target, label }, names: [] }));
        names.push(words(event));
      }
    }
    return [...events.values()].map(({ arrow, names }) => ({ ...arrow, label: names.join(', ') + arrow.label }));
  });
  return stateDiagram(Object.keys(config.states), config.initial, arrows);
}

function words(name: string): string {
  return name.replace(/([a-z])([A-Z])|_/g, (_, before = '', letter = '') => `${before} ${letter.toLowerCase()}`);
}
