// One figure of a run (`requests`, or a chart's name), for a frame in another page.
import { VERSION } from '../../core/version.js';
import type { Theme } from '../../report/chart-specs/palette.js';
import { Charts, linkName } from './charts.js';
import { Lanes } from './lanes.js';
import type { Linked } from './link.js';
import { usePlayed } from './player.js';

interface EmbeddedProps {
  readonly figure: string;
  readonly first: Linked;
  readonly theme: Theme;
}

export function Embedded({ figure, first, theme }: EmbeddedProps) {
  const { picture, refusal } = usePlayed(first.text, first.name);
  const outcome = picture?.outcome;
  return (
    <main data-digest={outcome?.digest}>
      <h1 class="question">{outcome?.question ?? first.name}</h1>
      {refusal !== undefined ? (
        <p role="alert">{refusal.what}</p>
      ) : picture === undefined ? (
        <p role="status">…</p>
      ) : figure === 'requests' ? (
        <Lanes picture={picture} theme={theme} />
      ) : (
        <Charts charts={picture.charts.filter((chart) => linkName(chart) === figure)} theme={theme} />
      )}
      {outcome && (
        <footer>
          Computed by Weir {VERSION}: seed {outcome.seed}, <code>{outcome.digest.slice(0, 19)}…</code>
        </footer>
      )}
    </main>
  );
}
