// The playground: a story, the sandbox, and all rules side by side. One file, computed in the browser.
//
//   #story/3    #rules    #burst.…  (a scenario in the sandbox)    #embed/requests/burst.…  (one figure)
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { VERSION } from '../../core/version.js';
import type { Theme } from '../../report/chart-specs/palette.js';
import { element } from '../../web/page-element.js';
import { Charts, linkName } from './charts.js';
import { Lanes } from './lanes.js';
import { type Linked, linkedBy } from './link.js';
import { usePlayed } from './player.js';
import { Rules } from './rules.js';
import { Sandbox, shipped } from './sandbox.js';
import { steps } from './steps.js';
import { Story } from './story.js';

type View =
  | { readonly at: 'story'; readonly step: number }
  | { readonly at: 'sandbox'; readonly first: Linked }
  | { readonly at: 'rules' }
  | { readonly at: 'embed'; readonly figure: string; readonly first: Linked };

const burst: Linked = { name: 'burst', text: shipped['burst'] ?? '' };

async function viewOf(hash: string): Promise<View> {
  const [word = '', more = '', rest = ''] = hash.slice(1).split('/');
  if (word === 'rules') return { at: 'rules' };
  if (word === 'sandbox') return { at: 'sandbox', first: burst };
  if (word === 'embed') return { at: 'embed', figure: more, first: (await linkedBy(`#${rest}`)) ?? burst };
  const linked = await linkedBy(hash);
  if (linked !== undefined) return { at: 'sandbox', first: linked };
  return { at: 'story', step: Math.max(0, Math.min(steps.length, Number(more) || 1) - 1) };
}

function App({ first }: { readonly first: View }) {
  const [view, setView] = useState(first);
  // Restarts the view for another scenario or view, but not when the sandbox updates its own link.
  const [visit, setVisit] = useState(0);
  const [theme, setTheme] = useTheme();
  useEffect(() => {
    const onLink = async () => {
      setView(await viewOf(location.hash));
      setVisit((last) => last + 1);
    };
    addEventListener('hashchange', onLink);
    return () => removeEventListener('hashchange', onLink);
  }, []);
  const toSandbox = (text: string, name: string) => {
    setView({ at: 'sandbox', first: { text, name } });
    setVisit((last) => last + 1);
    scrollTo(0, 0);
  };
  if (view.at === 'embed') return <Embedded {...view} theme={theme} />;
  const tabs = { story: 'Story', sandbox: 'Sandbox', rules: 'All rules' } as const;
  return (
    <>
      <header>
        <h1>
          Weir <span>playground</span>
        </h1>
        <nav aria-label="Views">
          {Object.entries(tabs).map(([name, words]) => (
            <a key={name} href={`#${name}`} aria-current={view.at === name ? 'page' : undefined}>
              {words}
            </a>
          ))}
        </nav>
        <button type="button" id="theme" onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}>
          {theme === 'dark' ? 'Light' : 'Dark'}
        </button>
      </header>
      <Shown key={visit} view={view} theme={theme} onView={setView} onSandbox={toSandbox} />
    </>
  );
}

interface ShownProps {
  readonly view: Exclude<View, { at: 'embed' }>;
  readonly theme: Theme;
  readonly onView: (view: View) => void;
  readonly onSandbox: (text: string, name: string) => void;
}

function Shown({ view, theme, onView, onSandbox }: ShownProps) {
  switch (view.at) {
    case 'story': {
      const onStep = (step: number) => {
        history.replaceState(null, '', `#story/${step + 1}`);
        onView({ at: 'story', step });
      };
      return <Story at={view.step} theme={theme} onStep={onStep} onSandbox={onSandbox} />;
    }
    case 'sandbox':
      return <Sandbox first={view.first} theme={theme} />;
    case 'rules':
      return <Rules theme={theme} />;
    default: {
      const never: never = view;
      return never;
    }
  }
}

interface EmbeddedProps {
  readonly figure: string;
  readonly first: Linked;
  readonly theme: Theme;
}

/** One figure of a run (`requests`, or a chart's name), for a frame in another page. */
function Embedded({ figure, first, theme }: EmbeddedProps) {
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

/** The page's theme follows the system until the switch is used. */
const prefersDark = matchMedia('(prefers-color-scheme: dark)');

function useTheme(): [theme: Theme, set: (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(prefersDark.matches ? 'dark' : 'light');
  useEffect(() => {
    document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  useEffect(() => {
    const follow = () => setTheme(prefersDark.matches ? 'dark' : 'light');
    prefersDark.addEventListener('change', follow);
    return () => prefersDark.removeEventListener('change', follow);
  }, []);
  return [theme, setTheme];
}

void viewOf(location.hash).then((first) => render(<App first={first} />, element('play')));
