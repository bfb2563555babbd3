// The states of the limiter and how it moves between them, lit as it moves.
import { palettes, stateColors, type Theme } from '../chart/palette.js';
import type { MachineRun } from './played.js';

const WIDTH = 132;
const GAP = 56;
const HEIGHT = 34;
const TOP = 40;

/** @param cycle from the start of the run */
export function Statechart({
  machine,
  cycle,
  theme,
}: {
  readonly machine: MachineRun;
  readonly cycle: number;
  readonly theme: Theme;
}) {
  const { states, arrows, initial, moves } = machine;
  const at = moves.findLast((move) => move.cycle <= cycle)?.to ?? initial;
  const colored = stateColors(states, palettes[theme]);
  const left = new Map(states.map(({ name }, index) => [name, index * (WIDTH + GAP)]));
  const width = states.length * (WIDTH + GAP) - GAP;
  const height = TOP + HEIGHT + 40;
  return (
    <figure class="statechart">
      <svg viewBox={`-4 0 ${width + 8} ${height}`} role="img" aria-label={`The limiter is ${at}.`} data-state={at}>
        {arrows.map(({ from, to, label }, index) => {
          const [x, y] = [left.get(from)! + WIDTH / 2, left.get(to)! + WIDTH / 2];
          const isAhead = y > x;
          const level = isAhead ? TOP : TOP + HEIGHT;
          const bend = isAhead ? TOP - 28 : TOP + HEIGHT + 28;
          const [begin, end] = isAhead ? [x + 24, y - 24] : [x - 24, y + 24];
          return (
            <g key={index} class="arrow">
              <path d={`M${begin} ${level} C${begin} ${bend} ${end} ${bend} ${end} ${level}`} />
              <path
                class="tip"
                d={`M${end - 4} ${level + (isAhead ? -7 : 7)} L${end} ${level} L${end + 4} ${level + (isAhead ? -7 : 7)}`}
              />
              <text x={(begin + end) / 2} y={isAhead ? TOP - 26 : TOP + HEIGHT + 36}>
                {label}
              </text>
            </g>
          );
        })}
        {colored.map(({ name, color }) => (
          <g key={name} class={name === at ? 'lit' : undefined}>
            <rect
              x={left.get(name)!}
              y={TOP}
              width={WIDTH}
              height={HEIGHT}
              rx={9}
              stroke={color}
              fill={name === at ? color : 'none'}
            />
            <text x={left.get(name)! + WIDTH / 2} y={TOP + HEIGHT / 2 + 5}>
              {name}
            </text>
          </g>
        ))}
      </svg>
    </figure>
  );
}
