// The playground: a scenario as sliders and as text, and what the limiter does with it, in the browser.
//
//   sliders ─► text ◄─ typing        the text is the scenario: everything else is read from it
//                │
//                └─► planScenario ─► simulate, in a worker ─► picture       a text that is refused leaves the last one
import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { element } from '../page-element.js';
import { controlsOf } from './controls.js';
import { type Linked, linkedBy, linkOf } from './link.js';
import { Expectations, Figures, Pictures } from './pictures.js';
import type { Picture } from './played.js';
import { type Refusal, Runs } from './runs.js';
import { Sliders } from './sliders.js';
import { useTheme } from './theme.js';

/** The shipped scenarios, by name. */
const shipped = JSON.parse(element('scenarios').textContent) as Readonly<Record<string, string>>;
const names = Object.keys(shipped);

/** A run that takes longer gives way to the next change. */
const PATIENCE_MS = 400;
const LINK_AFTER_MS = 300;

const nowMs = () => Number(document.timeline.currentTime);

/** Runs the newest text; of those that come meanwhile only the last. */
class Player {
  readonly #runs = new Runs();
  /** When the run began that goes on. */
  #sinceMs: number | undefined;
  #next: [text: string, name: string] | undefined;
  onPicture: (picture: Picture) => void = () => {};
  onRefusal: (refusal: Refusal | undefined) => void = () => {};
  onShare: (share: number | undefined) => void = () => {};

  play(text: string, name: string): void {
    this.#next = [text, name];
    if (this.#sinceMs === undefined) void this.#run();
    else if (nowMs() - this.#sinceMs > PATIENCE_MS) this.#runs.stop();
  }

  async #run(): Promise<void> {
    for (let next = this.#next; next !== undefined; next = this.#next) {
      this.#next = undefined;
      const sinceMs = nowMs();
      this.#sinceMs = sinceMs;
      const ended = await this.#runs.run(...next, (share) => nowMs() - sinceMs > PATIENCE_MS && this.onShare(share));
      this.#sinceMs = undefined;
      this.onShare(undefined);
      if ('error' in ended) throw new Error(ended.error);
      if ('refused' in ended) this.onRefusal(ended.refused);
      else if (ended.picture !== undefined) {
        this.onPicture(ended.picture);
        this.onRefusal(undefined);
      }
    }
  }
}

const player = new Player();

function Playground({ first }: { readonly first: Linked }) {
  const [text, setText] = useState(first.text);
  const [name, setName] = useState(first.name);
  const [picture, setPicture] = useState<Picture>();
  const [refusal, setRefusal] = useState<Refusal>();
  const [share, setShare] = useState<number>();
  const [said, setSaid] = useState('');
  const [command, setCommand] = useState('');
  const [theme, setTheme] = useTheme();
  const found = useMemo(() => controlsOf(text), [text]);
  const lastControls = useRef(found);
  const controls = found ?? lastControls.current;
  lastControls.current = controls;
  player.onPicture = setPicture;
  player.onRefusal = setRefusal;
  player.onShare = setShare;

  const latest = useRef(first.text);
  const change = (changed: string, from = name) => {
    latest.current = changed;
    setText(changed);
    setSaid('');
    setCommand('');
    player.play(changed, from);
  };
  const open = (chosen: string) => {
    setName(chosen);
    change(shipped[chosen]!, chosen);
  };
  useEffect(() => player.play(text, name), []);
  useEffect(() => {
    const timer = setTimeout(async () => history.replaceState(null, '', await linkOf({ name, text })), LINK_AFTER_MS);
    return () => clearTimeout(timer);
  }, [name, text]);
  useEffect(() => {
    const onLink = async () => {
      const linked = await linkedBy(location.hash);
      if (linked === undefined || linked.text === text) return;
      setName(linked.name);
      change(linked.text, linked.name);
    };
    addEventListener('hashchange', onLink);
    return () => removeEventListener('hashchange', onLink);
  });

  const copyLink = async () => {
    history.replaceState(null, '', await linkOf({ name, text }));
    setSaid(
      (await copied(location.href))
        ? 'The link is copied: it holds the whole scenario.'
        : 'Copy the address of this page: it holds the whole scenario.',
    );
  };
  const runLive = async () => {
    const line = liveCommand(text, name);
    setCommand(line);
    setSaid(
      (await copied(line))
        ? 'Copied. In a terminal it sends these requests to a live node, and compares.'
        : 'In a terminal this sends the requests to a live node, and compares.',
    );
  };
  const outcome = picture?.outcome;
  return (
    <>
      <header>
        <h1>
          Weir <span>playground</span>
        </h1>
        <label class="choice">
          <span>scenario</span>
          <select
            value={shipped[name] === text ? name : ''}
            onChange={({ currentTarget }) => open(currentTarget.value)}
          >
            {shipped[name] !== text && <option value="">your own</option>}
            {names.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        <div class="buttons">
          <button type="button" onClick={copyLink}>
            Copy link
          </button>
          <button type="button" class="live" onClick={runLive}>
            Run it live
          </button>
          <button type="button" id="theme" onClick={() => setTheme(theme === 'dark' ? 'light' : 'dark')}>
            {theme === 'dark' ? 'Light' : 'Dark'}
          </button>
        </div>
      </header>
      <p class="said" role="status">
        {said}
      </p>
      {command !== '' && <pre class="command">{command}</pre>}
      <main>
        <div class="left">
          {controls && <Sliders key={name} controls={controls} onEdit={(edit) => change(edit(latest.current))} />}
        </div>
        <div class="middle" data-digest={outcome?.digest} data-state={refusal === undefined ? 'played' : 'refused'}>
          <p class="question">{outcome?.question}</p>
          {outcome && <Figures outcome={outcome} />}
          <div class="progress" hidden={share === undefined}>
            <progress max={1} value={share ?? 0} aria-label="How far the run has come" />
          </div>
          {picture && <Pictures picture={picture} theme={theme} />}
        </div>
        <div class="right">
          <section class="text" aria-labelledby="text-title">
            <h2 id="text-title">
              <label for="text">The scenario</label>
            </h2>
            <textarea
              id="text"
              value={text}
              spellcheck={false}
              autocomplete="off"
              aria-invalid={refusal !== undefined}
              aria-describedby="refused"
              onInput={({ currentTarget }) => change(currentTarget.value)}
            />
            <div id="refused" role="alert">
              {refusal && <Refused refusal={refusal} />}
            </div>
          </section>
          {outcome && <Expectations outcome={outcome} />}
          <footer>
            Simulated in this page, as <code>weir simulate</code> does
            {outcome && (
              <>
                : seed {outcome.seed}, <code>{outcome.digest.slice(0, 19)}…</code>
              </>
            )}
            . Nothing is sent anywhere.
          </footer>
        </div>
      </main>
    </>
  );
}

function Refused({ refusal: { what, why, fix, faults } }: { readonly refusal: Refusal }) {
  return (
    <>
      <p>
        <b>{what}</b> {faults.length > 1 ? '' : why}
      </p>
      {faults.length > 1 && (
        <ul>
          {faults.slice(0, 8).map(({ path, message }) => (
            <li key={path}>
              {path}: {message}
            </li>
          ))}
        </ul>
      )}
      {fix !== undefined && <p>{fix}</p>}
    </>
  );
}

/** A shipped scenario is in the package; another is written into a file first. */
function liveCommand(text: string, name: string): string {
  if (shipped[name] === text) return `weir init ${name}.yaml --from ${name}\nweir load ${name}.yaml`;
  const body = text.endsWith('\n') ? text : `${text}\n`;
  return `cat > ${name}.yaml <<'END'\n${body}END\nweir load ${name}.yaml`;
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

void linkedBy(location.hash).then((linked = { name: 'burst', text: shipped['burst'] ?? '' }) =>
  render(<Playground first={linked} />, element('play')),
);
