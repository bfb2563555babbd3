// The same requests through every rule, side by side, with a small picture each.
import { useState } from 'preact/hooks';
import { families } from '../../core/limiter/products/families.js';
import { VERSION } from '../../core/version.js';
import { plainNumber } from '../../report/chart-specs/axis-text.js';
import { palettes, type Theme } from '../../report/chart-specs/palette.js';
import { controlsOf, slid, TRAFFIC } from './controls.js';
import type { RuleColumns } from './played.js';
import { usePlayed } from './player.js';
import { Slide } from './sliders.js';

export function Rules({ theme }: { readonly theme: Theme }) {
  const [text, setText] = useState(TRAFFIC);
  const [withProducts, setWithProducts] = useState(false);
  const { picture, share } = usePlayed(text, 'rules', withProducts);
  const sliders = controlsOf(text)?.sliders ?? [];
  const free = picture && { name: 'no limit', requests: picture.requests, admitted: picture.requests };
  const all = free === undefined ? [] : [free, ...(picture?.rules ?? [])];
  const most = Math.max(1, ...all.flatMap(({ requests }) => requests));
  return (
    <main class="bench rules-page" data-digest={picture?.outcome.digest}>
      <div class="left">
        <p class="question">
          The same requests through {Object.keys(families).length} rules with the same limit. Blue is admitted, orange
          is limited.
        </p>
        <form class="sliders" onSubmit={(event) => event.preventDefault()}>
          {sliders.map((slider) => (
            <Slide
              key={slider.path.join('/')}
              slider={slider}
              onValue={(value) => setText((now) => slid(now, slider, value))}
            />
          ))}
          <label class="check">
            <input
              type="checkbox"
              checked={withProducts}
              onChange={({ currentTarget }) => setWithProducts(currentTarget.checked)}
            />
            <span>every product, with the limits of its own example (mostly 10 a second)</span>
          </label>
        </form>
        <div class="progress" hidden={share === undefined}>
          <progress max={1} value={share ?? 0} aria-label="How far the runs have come" />
        </div>
      </div>
      <div class="multiples">
        {all.map((rule, index) => (
          <Multiple key={`${rule.name}/${index}`} rule={rule} most={most} theme={theme} />
        ))}
      </div>
      {picture && (
        <footer>
          Computed by Weir {VERSION} in this page: seed {picture.outcome.seed},{' '}
          <code>{picture.outcome.digest.slice(0, 19)}…</code>
        </footer>
      )}
    </main>
  );
}

const WIDTH = 200;
const HEIGHT = 64;

function Multiple({
  rule: { name, requests, admitted },
  most,
  theme,
}: {
  readonly rule: RuleColumns;
  readonly most: number;
  readonly theme: Theme;
}) {
  const { tones } = palettes[theme];
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const [all, passed] = [sum(requests), sum(admitted)];
  const words = `${plainNumber(passed)} of ${plainNumber(all)} admitted`;
  return (
    <figure class="multiple">
      <h2>{name}</h2>
      <figcaption>{words}</figcaption>
      <svg
        class="spark"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}: ${words}`}
      >
        <path d={areaOf(requests, most)} fill={tones.limited.color} />
        <path d={areaOf(admitted, most)} fill={tones.admitted.color} />
      </svg>
    </figure>
  );
}

function areaOf(values: readonly number[], most: number): string {
  const width = WIDTH / values.length;
  const steps = values.map((value, index) => {
    const y = (HEIGHT * (1 - value / most)).toFixed(1);
    return `L${(index * width).toFixed(2)} ${y}L${((index + 1) * width).toFixed(2)} ${y}`;
  });
  return `M0 ${HEIGHT}${steps.join('')}L${WIDTH} ${HEIGHT}Z`;
}
