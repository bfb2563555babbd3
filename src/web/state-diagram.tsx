// The states of a contract in a column, with arrows down on the right and up on the left, numbered for the list below.
//
//        ┌──────────┐
//     ┌─►│ allowing │──┐
//     2  └──────────┘  1
//     └──┌──────────┐◄─┘
//        │ limiting │
import { stateTones } from '../report/chart-specs/palette.js';

export interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly words: readonly string[];
}

export interface DrawnState {
  readonly name: string;
  readonly admits: boolean;
  /** How many keys are in it. */
  readonly keys?: number;
}

interface DiagramProps {
  readonly states: readonly DrawnState[];
  readonly arrows: readonly Arrow[];
  /** Undefined where each key has a state of its own. */
  readonly at: string | undefined;
  readonly label: string;
}

const [WIDE, HIGH, GAP, SIDE, STEP] = [132, 32, 30, 34, 16];

export function StateDiagram({ states, arrows: named, at, label }: DiagramProps) {
  const placeOf = (name: string) => states.findIndex((one) => one.name === name);
  const arrows = named.map((arrow) => ({ ...arrow, from: placeOf(arrow.from), to: placeOf(arrow.to) }));
  const reach = Math.max(1, ...arrows.map(({ from, to }) => Math.abs(to - from)));
  const side = SIDE + (reach - 1) * STEP;
  const [width, height] = [WIDE + 2 * side, states.length * (HIGH + GAP) - GAP + 8];
  const yOf = (index: number) => 4 + index * (HIGH + GAP);
  return (
    <div class="row diagram">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label={label}
        data-state={at}
      >
        {arrows.map((arrow, index) => (
          <ArrowLine
            key={index}
            {...arrow}
            number={index + 1}
            x={arrow.to > arrow.from ? side + WIDE : side}
            yOf={yOf}
          />
        ))}
        {stateTones(states).map(({ name, keys, tone }, index) => (
          <g key={name} class={`state ${name === at || keys ? 'lit' : ''}`} style={`--tone:var(--${tone})`}>
            <rect x={side} y={yOf(index)} width={WIDE} height={HIGH} rx={6} />
            <text x={side + WIDE / 2} y={yOf(index) + HIGH / 2 + 4.5}>
              {labelOf(name, keys)}
            </text>
          </g>
        ))}
      </svg>
      <ol class="quiet arrows">
        {named.map(({ from, to, words }, index) => (
          <li key={index}>
            {from} → {to}: {words.join('; or ')}
          </li>
        ))}
      </ol>
    </div>
  );
}

const MOST_LABEL = 18;

function labelOf(name: string, keys: number | undefined): string {
  const beside = keys === undefined ? '' : `: ${keys.toLocaleString('en')}`;
  const most = MOST_LABEL - beside.length;
  return `${name.length > most ? `${name.slice(0, most - 1)}…` : name}${beside}`;
}

interface LineProps {
  readonly from: number;
  readonly to: number;
  readonly number: number;
  readonly x: number;
  readonly yOf: (index: number) => number;
}

function ArrowLine({ from, to, number, x, yOf }: LineProps) {
  const out = to > from ? 1 : -1;
  const [start, end] = [yOf(from) + HIGH / 2 + 5 * out, yOf(to) + HIGH / 2 - 5 * out];
  const away = x + out * (16 + (Math.abs(to - from) - 1) * STEP);
  return (
    <g class="arrow">
      <path d={`M${x} ${start}H${away}V${end}H${x}m${6 * out} -4L${x} ${end}l${6 * out} 4`} />
      <text x={away + out * 9} y={(start + end) / 2 + 4}>
        {number}
      </text>
    </g>
  );
}
