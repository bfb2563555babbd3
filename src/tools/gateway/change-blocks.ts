// What a change of limits, or a move, does, as blocks of an answer.
import { type Block, sentence } from '../../report/block.js';
import { column, type RunColumn, runTable } from '../../report/run-table.js';
import { number } from '../../report/words.js';
import type { LimitChange } from './diff-answer.js';
import type { GatewayLimits } from './found.js';
import { titleOf } from './limit-changes.js';
import type { LimitMove } from './limit-move.js';

export function changeBlocks(changes: readonly LimitChange[]): Block[] {
  const others = changes.filter(({ from }) => from === undefined);
  const moved = changes.flatMap(({ from, name, where, file, line, differs }) =>
    from === undefined
      ? []
      : [sentence(`${from} → ${titleOf({ name, where })} (${file}:${line}): ${differs.join('; ')}.`)],
  );
  return [...moved, ...(others.length === 0 ? [] : [runTable(changeColumns, others, { title: 'Limits' })])];
}

/** Which side is counted in each instance. */
export function replicaSentence(diff: {
  readonly replicas: number;
  readonly old: GatewayLimits;
  readonly new: GatewayLimits;
}): string[] {
  const { replicas, old, new: fresh } = diff;
  if (replicas === 1) return [];
  const sides = Object.entries({ old, new: fresh }).map(([name, { limiters }]) => {
    const own = limiters.filter(({ instances }) => instances > 1).length;
    if (own === 0) return `the ${name} limits are counted once`;
    const some = own === limiters.length ? 'the' : `${own} of the ${limiters.length}`;
    return `${some} ${name} limits are counted in each, ${replicas} times as much in all`;
  });
  return [`With ${replicas} replicas ${sides.join('; ')}.`];
}

/** @param traffic what a log makes of the written limits */
export function moveBlocks(move: LimitMove | undefined, name: string, traffic: string | undefined): Block[] {
  if (move === undefined) return [];
  const { as, text, left, changes, limits } = move;
  const code: Block[] = limits.limiters.length === 0 ? [] : [{ kind: 'code', title: `As ${as}`, text: text.trimEnd() }];
  const others = [...code, ...left.map((what) => sentence(`Not written: ${what}.`))];
  // Compared with nothing else, they are the new limits.
  if (name.endsWith(` as ${as}`)) return others;
  const notes = limits.notUnderstood.map(({ what }) => sentence(`As ${as}, ${what}.`));
  return [...others, ...changeBlocks(changes), ...notes, ...(traffic ? [sentence(`As ${as}: ${traffic}`)] : [])];
}

const changeColumns: readonly RunColumn<LimitChange>[] = [
  column('limit', ({ name }) => name),
  column('where', ({ where }) => where),
  column('change', changeWords),
  { ...column('at once', burstWords), side: 'left' },
  column('line', ({ file, line }) => `${file}:${line}`),
];

function burstWords({ burst, burst_of = 0 }: LimitChange): string {
  return burst === undefined ? '–' : `of ${number(burst_of)}: ${burst.map(number).join(' → ')}`;
}

export function changeWords({ kind, old, new: fresh, differs }: LimitChange): string {
  return kind === 'added' ? `added: ${fresh}` : kind === 'removed' ? `removed: ${old}` : differs.join('; ');
}
