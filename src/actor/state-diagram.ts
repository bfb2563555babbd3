// Mermaid state diagrams: of a contract definition, and of a kind of client.
import { aggregateWords, type ContractDefinition, isOnAggregate } from '../limiter/definition.js';
import type { ClientChart } from './client/client-chart.js';

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** A transition without a trigger reads `asked for`; emitted events follow a slash. */
export function contractDiagram(definition: ContractDefinition): string {
  const { states, transitions } = definition;
  const initial = Object.keys(states).find((name) => states[name]!.initial === true)!;
  const arrows = transitions.map(({ from, to, trigger, fires_when, post_actions = [] }): Arrow => {
    const when = isOnAggregate(trigger) ? `${trigger.condition} (${aggregateWords(trigger, definition)})` : 'asked for';
    const further = typeof fires_when === 'string' ? ` if ${fires_when}` : '';
    return { from, to, label: when + further + after(post_actions.map(({ emit }) => emit)) };
  });
  return stateDiagram(Object.keys(states), initial, arrows);
}

/** Events with the same effect share an arrow: `limited, timeout [tries again] / pause`. */
export function clientDiagram({ config }: ClientChart): string {
  const arrows = Object.entries(config.states).flatMap(([from, { on = {}, always = [] }]) => {
    const events = new Map<string, { readonly arrow: Arrow; readonly names: string[] }>();
    for (const [event, edges] of [...Object.entries(on), ['always', always] as const]) {
      for (const { guard, target = from, actions = [] } of edges) {
        const label = `${guard === undefined ? '' : ` [${words(guard)}]`}${after(actions.map(words))}`;
        const key = `${target} ${label}`;
        const known = events.get(key) ?? { arrow: { from, to: target, label }, names: [] };
        known.names.push(words(event));
        events.set(key, known);
      }
    }
    return [...events.values()].map(({ arrow, names }) => ({ ...arrow, label: names.join(', ') + arrow.label }));
  });
  return stateDiagram(Object.keys(config.states), config.initial, arrows);
}

function stateDiagram(states: readonly string[], initial: string, arrows: readonly Arrow[]): string {
  const ids = new Map(states.map((name, index) => [name, `s${index}`]));
  const named = [...ids].map(([name, id]) => `  state "${name}" as ${id}`);
  const drawn = arrows.map(({ from, to, label }) => `  ${ids.get(from)} --> ${ids.get(to)}: ${plain(label)}`);
  return `${['stateDiagram-v2', ...named, `  [*] --> ${ids.get(initial)}`, ...drawn].join('\n')}\n`;
}

function after(actions: readonly string[]): string {
  return actions.length === 0 ? '' : ` / ${actions.join(', ')}`;
}

function words(name: string): string {
  return name.replace(/([a-z])([A-Z])|_/g, (_, before = '', letter = '') => `${before} ${letter.toLowerCase()}`);
}

/** Mermaid ends a line at a semicolon and a label at a colon; a hash begins a comment. */
function plain(text: string): string {
  return text.replace(/[;#:\n]/g, ' ');
}
