// Figures of a run as tiles, and its expectations.
import { ShownCount } from '../web/node/parts.js';

export type Tile = readonly [name: string, value: string, note?: string];

export function Tiles({ tiles }: { readonly tiles: readonly Tile[] }) {
  return (
    <dl class="figures">
      {tiles.map(([name, value, beside]) => (
        <ShownCount key={name} name={name} value={value} beside={beside || undefined} />
      ))}
    </dl>
  );
}

export interface ShownExpectation {
  readonly name: string;
  readonly expected: string;
  readonly state: 'held' | 'broken' | 'open';
  readonly found: string;
}

const words = { held: '✓ held', broken: '✗ not held', open: '· open' } as const;

const looks = { held: 'good', broken: 'bad', open: 'quiet' } as const;

export function Expectations({ all }: { readonly all: readonly ShownExpectation[] }) {
  if (all.length === 0) return null;
  return (
    <section aria-labelledby="expected">
      <h2 id="expected">Expectations</h2>
      <ul class="plain">
        {all.map(({ name, expected, state, found }) => (
          <li key={name}>
            <span>
              <b class={looks[state]}>{words[state]}</b> {name}
            </span>
            <small>
              {[...(name === expected ? [] : [expected]), ...(found === '' ? [] : [`found ${found}`])].join('; ')}
            </small>
          </li>
        ))}
      </ul>
    </section>
  );
}
