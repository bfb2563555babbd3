// The states of a contract and what moves it, drawn from its XState machine: one state below the other, arrows down on the right and up on
// the left, each with a number that the list below explains.
//
//        ┌──────────┐
//     ┌─►│ allowing │──┐
//     2  └──────────┘  1
//     └──┌──────────┐◄─┘
//        │ limiting │
import type { AnswerOf } from '../../client/api-client.js';
import type { Endpoints } from '../../client/route-table.js';

export type StateMachine = AnswerOf<Endpoints['showStateMachine']>['machine'];

/** A state, as far as it is drawn; see `contractMachine`. */
interface StateConfig {
  readonly tags?: readonly string[];
  readonly on?: Readonly<Record<string, readonly TransitionConfig[]>>;
}

interface TransitionConfig {
  readonly target?: string;
  readonly description?: string;
  readonly actions?: readonly (string | { readonly type: string; readonly params?: { readonly event?: string } })[];
}

interface Arrow {
  readonly from: number;
  readonly to: number;
  /** What moves it, each in words: a count, or that somebody asks. */
  readonly words: readonly string[];
}

const [WIDE, HIGH, GAP, SIDE, STEP] = [132, 32, 30, 34, 16];

export function StateDiagram({ machine, state }: { readonly machine: StateMachine; readonly state: string }) {
  const names = Object.keys(machine.states);
  const arrows = arrowsOf(machine, names);
  const reach = Math.max(1, ...arrows.map(({ from, to }) => Math.abs(to - from)));
  const side = SIDE + (reach - 1) * STEP;
  const [width, height] = [WIDE + 2 * side, names.length * (HIGH + GAP) - GAP + 8];
  const yOf = (index: number) => 4 + index * (HIGH + GAP);
  return (
    <div class="diagram">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={`${machine.id} is ${state}`}
      >
        {arrows.map((arrow, index) => (
          <ArrowLine
            key={arrow.words.join()}
            arrow={arrow}
            number={index + 1}
            x={arrow.to > arrow.from ? side + WIDE : side}
            yOf={yOf}
          />
        ))}
        {names.map((name, index) => {
          const admits = (machine.states[name] as StateConfig).tags?.includes('admits');
          return (
            <g key={name} class={`state ${admits ? 'admits' : 'limits'} ${name === state ? 'lit' : ''}`}>
              <rect x={side} y={yOf(index)} width={WIDE} height={HIGH} rx={6} />
              <text x={side + WIDE / 2} y={yOf(index) + HIGH / 2 + 4.5}>
                {name.length > 18 ? `${name.slice(0, 17)}…` : name}
              </text>
            </g>
          );
        })}
      </svg>
      <ol class="arrows">
        {arrows.map(({ from, to, words }) => (
          <li key={words.join()}>
            {names[from]} → {names[to]}: {words.join('; or ')}
          </li>
        ))}
      </ol>
    </div>
  );
}

interface LineProps {
  readonly arrow: Arrow;
  readonly number: number;
  readonly x: number;
  readonly yOf: (index: number) => number;
}

function ArrowLine({ arrow: { from, to }, number, x, yOf }: LineProps) {
  const out = to > from ? 1 : -1;
  const [start, end] = [yOf(from) + HIGH / 2 + 5 * out, yOf(to) + HIGH / 2 - 5 * out];
  const away = x + out * (16 + (Math.abs(to - from) - 1) * STEP);
  return (
    <g class="arrow">
      <path d={`M${x} ${start}H${away}V${end}H${x + 2 * out}`} />
      <path class="tip" d={`M${x} ${end}l${7 * out} -4v8z`} />
      <text x={away + out * 9} y={(start + end) / 2 + 4}>
        {number}
      </text>
    </g>
  );
}

function arrowsOf({ states }: StateMachine, names: readonly string[]): readonly Arrow[] {
  const found = new Map<string, Arrow>();
  for (const [from, name] of names.entries()) {
    const { on = {} } = states[name] as StateConfig;
    // What a count moves comes first; the same transition by hand says no more than that.
    for (const event of ['aggregate', 'move']) {
      for (const { target, description = '', actions = [] } of on[event] ?? []) {
        if (target === undefined) continue;
        const to = names.indexOf(target);
        const known = found.get(`${from} ${to}`);
        if (event === 'move' && known !== undefined) continue;
        const emits = actions.flatMap((action) => (typeof action === 'object' && action.params?.event) || []);
        const words = emits.length === 0 ? description : `${description}, emits ${emits.join(', ')}`;
        found.set(`${from} ${to}`, { from, to, words: [...(known?.words ?? []), words] });
      }
    }
  }
  return [...found.values()];
}
