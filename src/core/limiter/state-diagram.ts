// Mermaid state diagrams.
import { aggregateWords, type ContractDefinition, isOnAggregate } from './definition.js';

export interface DiagramArrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** A transition without a trigger reads `asked for`; emitted events follow a slash. */
export function contractDiagram(definition: ContractDefinition): string {
  const { states, transitions } = definition;
  const initial = Object.keys(states).find((name) => states[name]!.initial === true)!;
  const arrows = transitions.map(({ from, to, trigger, fires_when, post_actions = [] }): DiagramArrow => {
    const when = isOnAggregate(trigger) ? `${trigger.condition} (${aggregateWords(trigger, definition)})` : 'asked for';
    const further = typeof fires_when === 'string' ? ` if ${fires_when}` : '';
    return { from, to, label: when + further + after(post_actions.map(({ emit }) => emit)) };
  });
  return stateDiagram(Object.keys(states), initial, arrows);
}

export function stateDiagram(states: readonly string[], initial: string, arrows: readonly DiagramArrow[]): string {
  const ids = new Map(states.map((name, index) => [name, `s${index}`]));
  const named = [...ids].map(([name, id]) => `  state "${name}" as ${id}`);
  const drawn = arrows.map(({ from, to, label }) => `  ${ids.get(from)} --> ${ids.get(to)}: ${plain(label)}`);
  return `${['stateDiagram-v2', ...named, `  [*] --> ${ids.get(initial)}`, ...drawn].join('\n')}\n`;
}

export function after(actions: readonly string[]): string {
  return actions.length === 0 ? '' : ` / ${actions.join(', ')}`;
}

/** Mermaid ends a line at a semicolon and a label at a colon; a hash begins a comment. */
function plain(text: string): string {
  return text.replace(/[;#:\n]/g, ' ');
}
