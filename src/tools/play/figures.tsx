// Figures of a run as tiles, and its expectations.
import type { Outcome } from '../../harness/outcome/outcome-schema.js';
import { plainNumber } from '../../report/chart-specs/axis-text.js';
import { ShownCount } from '../../web/node/parts.js';

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

export function Expectations({ all }: { readonly all: Outcome['expectations'] }) {
  if (all.length === 0) return null;
  return (
    <section aria-labelledby="expected">
      <h2 id="expected">Expectations</h2>
      <ul class="plain">
        {all.map(({ name, expected, actual, held }) => (
          <li key={name}>
            <span>
              <b class={held ? 'good' : 'bad'}>{held ? '✓ held' : '✗ not held'}</b> {name}
            </span>
            <small>
              {name === expected ? '' : `${expected}; `}found{' '}
              {actual === null ? 'nothing' : typeof actual === 'number' ? plainNumber(actual) : actual}
            </small>
          </li>
        ))}
      </ul>
    </section>
  );
}
