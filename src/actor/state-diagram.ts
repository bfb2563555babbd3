// A Mermaid state diagram of a contract definition: its states, what moves it from one to the other, and what it emits.
import { aggregateWords, type ContractDefinition, isOnAggregate } from '../limiter/definition.js';

/** Text of a `stateDiagram-v2`. A transition without a trigger reads `asked for`; what it emits follows a slash. */
export function stateDiagram(definition: ContractDefinition): string {
  const { states, transitions } = definition;
  const ids = new Map(Object.keys(states).map((name, index) => [name, `s${index}`]));
  const named = [...ids].map(([name, id]) => `  state "${name}" as ${id}`);
  const initial = Object.keys(states).find((name) => states[name]!.initial === true);
  const arrows = transitions.map(({ from, to, trigger, fires_when, post_actions = [] }) => {
    const when = isOnAggregate(trigger) ? `${trigger.condition} (${aggregateWords(trigger, definition)})` : 'asked for';
    const further = typeof fires_when === 'string' ? ` if ${fires_when}` : '';
    const emits = post_actions.length === 0 ? '' : ` / ${post_actions.map(({ emit }) => emit).join(', ')}`;
    return `  ${ids.get(from)} --> ${ids.get(to)}: ${plain(when + further + emits)}`;
  });
  return `${['stateDiagram-v2', ...named, `  [*] --> ${ids.get(initial ?? '')}`, ...arrows].join('\n')}\n`;
}

/** Mermaid ends a line at a semicolon and a label at a colon; a hash begins a comment. */
function plain(text: string): string {
  return text.replace(/[;#:\n]/g, ' ');
}
