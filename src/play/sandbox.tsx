// The sandbox: a scenario as sliders and as text, with the limiter's effect.
//
//   sliders ─► text ◄─ typing        the text is the scenario; all else derives from it
//                │
//                └─► planScenario ─► simulate, in a worker ─► picture       an invalid text keeps the last picture
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Outcome } from '../outcome/outcome-schema.js';
import { counted, share as shareOf } from '../report/words.js';
import { plainNumber } from '../web/chart/axis-text.js';
import type { Theme } from '../web/chart/palette.js';
import { Scrolling } from '../web/scrolling.js';
import { type Challenge, foulOf } from './challenges.js';
import { Charts } from './charts.js';
import { askedAt, controlsOf } from './controls.js';
import { Expectations, type ShownExpectation, type Tile, Tiles } from './figures.js';
import { Lanes } from './lanes.js';
import { linkOf } from './link.js';
import { type TakenLimit, withLimit, withLog } from './own-files.js';
import type { Picture } from './played.js';
import { player, usePlayed } from './player.js';
import type { Refusal } from './runs.js';
import { shipped } from './shipped.js';
import { Sliders } from './sliders.js';

const LINK_AFTER_MS = 300;

interface SandboxProps {
  readonly first: { readonly text: string; readonly name: string };
  readonly theme: Theme;
  readonly challenge?: Challenge | undefined;
}

export function Sandbox({ first, theme, challenge }: SandboxProps) {
  const [text, setText] = useState(first.text);
  const [name, setName] = useState(first.name);
  const [said, setSaid] = useState('');
  const [command, setCommand] = useState('');
  const [limits, setLimits] = useState<readonly TakenLimit[]>([]);
  const { picture, refusal, share } = usePlayed(text, name);
  const found = useMemo(() => controlsOf(text), [text]);
  const lastControls = useRef(found);
  const controls = found ?? lastControls.current;
  lastControls.current = controls;

  const latest = useRef(first.text);
  const change = (changed: string) => {
    latest.current = changed;
    setText(changed);
    setSaid('');
    setCommand('');
  };
  const open = (chosen: string) => {
    setName(chosen);
    change(shipped[chosen]!);
  };
  useEffect(() => {
    const timer = setTimeout(async () => history.replaceState(null, '', await linkOf({ name, text })), LINK_AFTER_MS);
    return () => clearTimeout(timer);
  }, [name, text]);

  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    const found = await player.take(file);
    setLimits([]);
    if ('refused' in found) {
      setSaid([found.refused.what, found.refused.why, found.refused.fix].filter(Boolean).join(' '));
      return;
    }
    const { taken } = found;
    if (taken.kind === 'log') {
      setName(slugOf(taken.name));
      change(withLog(latest.current, taken.name));
      setSaid(
        `${taken.name}: ${taken.requests.toLocaleString('en')} requests, read as ${taken.format}. It stays in this page.`,
      );
      return;
    }
    setLimits(taken.limits);
    change(withLimit(latest.current, taken.limits[0]!.limit));
    setSaid([`${taken.name}: ${taken.limits.map(({ words }) => words).join('; ')}.`, ...taken.notes].join(' '));
  };
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      void take(event.dataTransfer?.files[0]);
    };
    // Accepts configuration pasted outside the text field.
    const paste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text !== '' && !(event.target instanceof HTMLTextAreaElement)) void take(new File([text], 'pasted'));
    };
    addEventListener('dragover', over);
    addEventListener('drop', drop);
    addEventListener('paste', paste);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('drop', drop);
      removeEventListener('paste', paste);
    };
  });

  const copyLink = async () => {
    history.replaceState(null, '', await linkOf({ name, text }));
    setSaid(
      (await copied(location.href))
        ? 'The link is copied: it holds the whole scenario.'
        : 'Copy the address of this page: it holds the whole scenario.',
    );
  };
  const copyEmbed = async () => {
    const link = (await linkOf({ name, text })).slice(1);
    const frame = `<iframe src="${location.href.split('#')[0]}#embed/requests/${link}" title="Weir: ${name}" width="720" height="460"></iframe>`;
    setCommand(frame);
    setSaid(
      (await copied(frame))
        ? 'Copied: a frame with this run for a page of yours.'
        : 'A frame with this run for a page of yours:',
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
      <section class="row tools" aria-label="Scenario">
        {challenge === undefined && (
          <label class="row choice">
            <span>scenario</span>
            <select
              value={shipped[name] === text ? name : ''}
              onChange={({ currentTarget }) => open(currentTarget.value)}
            >
              {shipped[name] !== text && <option value="">your own</option>}
              {Object.keys(shipped).map((one) => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </label>
        )}
        <label class="row choice drop">
          <span>your log, or a gateway's file</span>
          <input type="file" onChange={({ currentTarget }) => void take(currentTarget.files?.[0])} />
        </label>
        {limits.length > 1 && (
          <label class="row choice">
            <span>limit</span>
            <select
              onChange={({ currentTarget }) =>
                change(withLimit(latest.current, limits[Number(currentTarget.value)]!.limit))
              }
            >
              {limits.map(({ words }, index) => (
                <option key={words} value={index}>
                  {words}
                </option>
              ))}
            </select>
          </label>
        )}
        <div class="row buttons">
          <button type="button" onClick={copyLink}>
            Copy link
          </button>
          <button type="button" onClick={copyEmbed}>
            Embed
          </button>
          <button type="button" class="first" onClick={runLive}>
            Run it live
          </button>
        </div>
      </section>
      <p class="quiet said" role="status">
        {said}
      </p>
      {command !== '' && (
        <Scrolling class="scroll command" label="Command">
          <pre>{command}</pre>
        </Scrolling>
      )}
      <main class="bench">
        <div class="left">
          {challenge && <Judged challenge={challenge} text={text} picture={picture} onSolution={change} />}
          {controls && <Sliders key={name} controls={controls} onEdit={(edit) => change(edit(latest.current))} />}
        </div>
        <div class="middle" data-digest={outcome?.digest} data-state={refusal === undefined ? 'played' : 'refused'}>
          <p class="question">{outcome?.question}</p>
          {outcome && <Tiles tiles={tilesOf(outcome)} />}
          <div class="progress" hidden={share === undefined}>
            <progress max={1} value={share ?? 0} aria-label="How far the run has come" />
          </div>
          {picture && <Lanes picture={picture} theme={theme} onAsk={(atMs) => change(askedAt(latest.current, atMs))} />}
          {picture && <Charts charts={picture.charts} theme={theme} />}
        </div>
        <div class="right">
          <section aria-labelledby="text-title">
            <h2 id="text-title">The scenario</h2>
            <textarea
              id="text"
              value={text}
              spellcheck={false}
              autocomplete="off"
              aria-invalid={refusal !== undefined}
              aria-labelledby="text-title"
              aria-describedby="refused"
              onInput={({ currentTarget }) => change(currentTarget.value)}
            />
            <div id="refused" role="alert">
              {refusal && <Refused refusal={refusal} />}
            </div>
          </section>
          {outcome && <Expectations all={expectedOf(outcome)} isOver />}
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

function Judged({
  challenge,
  text,
  picture,
  onSolution,
}: {
  readonly challenge: Challenge;
  readonly text: string;
  readonly picture: Picture | undefined;
  readonly onSolution: (text: string) => void;
}) {
  const foul = foulOf(challenge, text);
  const isSolved = foul === undefined && picture?.outcome.expectations.every(({ held }) => held) === true;
  return (
    <section class="challenge" aria-label="The challenge" data-solved={isSolved}>
      <h2>{challenge.title}</h2>
      <p>{challenge.task}</p>
      <p role="status">
        <b class={isSolved ? 'good' : 'bad'}>{isSolved ? '✓ solved' : '✗ not yet'}</b>{' '}
        {isSolved ? 'Copy link keeps your solution.' : foul}
      </p>
      <button type="button" onClick={() => onSolution(challenge.solution)}>
        Show a solution
      </button>
    </section>
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

function tilesOf({ requests, limited, entries, peak_count, limiting_cycles, delayed }: Outcome): Tile[] {
  return [
    ['requests', plainNumber(requests)],
    ['limited', plainNumber(limited), shareOf(limited, requests)],
    ['entries', plainNumber(entries), `${counted(limiting_cycles, 'cycle')} limiting`],
    ['peak', plainNumber(peak_count), delayed === undefined ? 'in a window' : `${plainNumber(delayed)} delayed`],
  ];
}

function expectedOf({ expectations }: Outcome): ShownExpectation[] {
  return expectations.map(({ name, expected, actual, held }) => ({
    name,
    expected,
    state: held ? 'held' : 'broken',
    found: actual === null ? 'nothing' : typeof actual === 'number' ? plainNumber(actual) : actual,
  }));
}

function slugOf(file: string): string {
  return (
    file
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 64) || 'own'
  );
}

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
