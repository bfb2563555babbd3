// The sandbox: a scenario as sliders and as text, with the limiter's effect.
//
//   sliders ─► text ◄─ typing        the text is the scenario; all else derives from it
//                │
//                └─► planScenario ─► simulate, in a worker ─► picture       an invalid text keeps the last picture
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Outcome } from '../../harness/outcome/outcome-schema.js';
import { plainNumber } from '../../report/chart-specs/axis-text.js';
import type { Theme } from '../../report/chart-specs/palette.js';
import { counted, share as shareOf } from '../../report/words.js';
import { element } from '../../web/page-element.js';
import { Scrolling } from '../../web/scrolling.js';
import { Charts } from './charts.js';
import { askedAt, controlsOf } from './controls.js';
import { Expectations, type Tile, Tiles } from './figures.js';
import { Lanes } from './lanes.js';
import { type Linked, linkOf } from './link.js';
import { type TakenLimit, withLimit, withLog } from './own-files.js';
import { player, usePlayed } from './player.js';
import type { Refusal } from './runs.js';
import { Select, Sliders } from './sliders.js';

const LINK_AFTER_MS = 300;
/** The example scenarios by name. */
export const shipped = JSON.parse(element('scenarios').textContent) as Readonly<Record<string, string>>;
const names = Object.keys(shipped);

interface SandboxProps {
  readonly first: Linked;
  readonly theme: Theme;
}

export function Sandbox({ first, theme }: SandboxProps) {
  const { text, latest, change, name, setName, said, setSaid, command, setCommand } = useWritten(first);
  const [limits, setLimits] = useState<readonly TakenLimit[]>([]);
  const { picture, refusal, share } = usePlayed(text, name);
  const lastControls = useRef<ReturnType<typeof controlsOf>>(undefined);
  lastControls.current = useMemo(() => controlsOf(text) ?? lastControls.current, [text]);
  const controls = lastControls.current;

  const take = async (file: File | undefined) => {
    if (file === undefined) return;
    const changed = changedBy(await player.take(file), latest.current);
    setLimits(changed.limits ?? []);
    if (changed.name !== undefined) setName(changed.name);
    if (changed.text !== undefined) change(changed.text);
    setSaid(changed.said);
  };
  useTaken((file) => void take(file));

  const copy = async (copying: Copying) => {
    const { said, command } = await copying({ name, text });
    if (command !== undefined) setCommand(command);
    setSaid(said);
  };
  const outcome = picture?.outcome;
  const isShipped = shipped[name] === text;
  return (
    <>
      <section class="row tools" aria-label="Scenario">
        <Select
          label="scenario"
          chosen={isShipped ? name : ''}
          options={[...(isShipped ? [] : [['', 'your own'] as const]), ...names.map((one) => [one, one] as const)]}
          onChoose={(chosen) => {
            setName(chosen);
            change(shipped[chosen]!);
          }}
        />
        <label class="row choice drop">
          <span>your log, or a gateway's file</span>
          <input type="file" onChange={({ currentTarget }) => void take(currentTarget.files?.[0])} />
        </label>
        {limits.length > 1 && (
          <Select
            label="limit"
            options={limits.map(({ words }, index) => [String(index), words])}
            onChoose={(index) => change(withLimit(latest.current, limits[Number(index)]!.limit))}
          />
        )}
        <CopyButtons onCopy={(copying) => void copy(copying)} />
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
          {controls && <Sliders key={name} controls={controls} onEdit={(edit) => change(edit(latest.current))} />}
        </div>
        <div class="middle" data-digest={outcome?.digest} data-state={refusal === undefined ? 'played' : 'refused'}>
          <p class="question">{outcome?.question}</p>
          {outcome && <Tiles tiles={tilesOf(outcome)} />}
          <div class="progress" hidden={share === undefined && (picture ?? refusal) !== undefined}>
            <progress max={1} value={share ?? 0} aria-label="How far the run has come" />
          </div>
          {picture && <Lanes picture={picture} theme={theme} onAsk={(atMs) => change(askedAt(latest.current, atMs))} />}
          {picture && <Charts charts={picture.charts} theme={theme} />}
        </div>
        <div class="right">
          <ScenarioText text={text} refusal={refusal} onChange={change} />
          {outcome && <Expectations all={outcome.expectations} />}
          <Origin outcome={outcome} />
        </div>
      </main>
    </>
  );
}

/** The scenario as text, with what is said of it; the address of the page follows. */
function useWritten(first: Linked) {
  const [text, setText] = useState(first.text);
  const [name, setName] = useState(first.name);
  const [said, setSaid] = useState('');
  const [command, setCommand] = useState('');
  const latest = useRef(first.text);
  const change = (changed: string) => {
    latest.current = changed;
    setText(changed);
    setSaid('');
    setCommand('');
  };
  useEffect(() => {
    const timer = setTimeout(async () => history.replaceState(null, '', await linkOf({ name, text })), LINK_AFTER_MS);
    return () => clearTimeout(timer);
  }, [name, text]);
  return { text, latest, change, name, setName, said, setSaid, command, setCommand };
}

type Copying = (scenario: Linked) => Promise<Copied>;

function CopyButtons({ onCopy }: { readonly onCopy: (copying: Copying) => void }) {
  return (
    <div class="row buttons">
      <button type="button" onClick={() => onCopy(copyLink)}>
        Copy link
      </button>
      <button type="button" onClick={() => onCopy(copyEmbed)}>
        Embed
      </button>
      <button type="button" class="first" onClick={() => onCopy(copyLive)}>
        Run it live
      </button>
    </div>
  );
}

function Origin({ outcome }: { readonly outcome: Outcome | undefined }) {
  return (
    <footer>
      Simulated in this page, as <code>weir simulate</code> does
      {outcome && (
        <>
          : seed {outcome.seed}, <code>{outcome.digest.slice(0, 19)}…</code>
        </>
      )}
      . Nothing is sent anywhere.
    </footer>
  );
}

interface Changed {
  readonly said: string;
  readonly name?: string;
  readonly text?: string;
  readonly limits?: readonly TakenLimit[];
}

/** What a file changes. @param text of the scenario before */
function changedBy(found: Awaited<ReturnType<typeof player.take>>, text: string): Changed {
  if ('refused' in found) {
    const { what, why, fix } = found.refused;
    return { said: [what, why, fix].filter(Boolean).join(' ') };
  }
  const { taken } = found;
  if (taken.kind === 'log') {
    const { name, requests, format } = taken;
    const said = `${name}: ${requests.toLocaleString('en')} requests, read as ${format}. It stays in this page.`;
    return { said, name: slugOf(name), text: withLog(text, name) };
  }
  const { name, limits, notes } = taken;
  const said = [`${name}: ${limits.map(({ words }) => words).join('; ')}.`, ...notes].join(' ');
  return { said, text: withLimit(text, limits[0]!.limit), limits };
}

/** Takes a file that is dropped on the page, and configuration pasted outside the text field. */
function useTaken(onTaken: (file: File | undefined) => void): void {
  useEffect(() => {
    const over = (event: DragEvent) => event.preventDefault();
    const drop = (event: DragEvent) => {
      event.preventDefault();
      onTaken(event.dataTransfer?.files[0]);
    };
    const paste = (event: ClipboardEvent) => {
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (text !== '' && !(event.target instanceof HTMLTextAreaElement)) onTaken(new File([text], 'pasted'));
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
}

interface ScenarioTextProps {
  readonly text: string;
  readonly refusal: Refusal | undefined;
  readonly onChange: (text: string) => void;
}

function ScenarioText({ text, refusal, onChange }: ScenarioTextProps) {
  return (
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
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <div id="refused" role="alert">
        {refusal && <Refused refusal={refusal} />}
      </div>
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

function slugOf(file: string): string {
  return (
    file
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 64) || 'own'
  );
}

interface Copied {
  readonly said: string;
  /** To be copied by hand where the browser refuses. */
  readonly command?: string;
}

async function copyLink(scenario: Linked): Promise<Copied> {
  history.replaceState(null, '', await linkOf(scenario));
  return {
    said: (await copied(location.href))
      ? 'The link is copied: it holds the whole scenario.'
      : 'Copy the address of this page: it holds the whole scenario.',
  };
}

async function copyEmbed(scenario: Linked): Promise<Copied> {
  const link = (await linkOf(scenario)).slice(1);
  const command = `<iframe src="${location.href.split('#')[0]}#embed/requests/${link}" title="Weir: ${scenario.name}" width="720" height="460"></iframe>`;
  return {
    command,
    said: (await copied(command))
      ? 'Copied: a frame with this run for a page of yours.'
      : 'A frame with this run for a page of yours:',
  };
}

async function copyLive({ name, text }: Linked): Promise<Copied> {
  const body = text.endsWith('\n') ? text : `${text}\n`;
  const command =
    shipped[name] === text
      ? `weir init ${name}.yaml --from ${name}\nweir load ${name}.yaml`
      : `cat > ${name}.yaml <<'END'\n${body}END\nweir load ${name}.yaml`;
  return {
    command,
    said: (await copied(command))
      ? 'Copied. In a terminal it sends these requests to a live node, and compares.'
      : 'In a terminal this sends the requests to a live node, and compares.',
  };
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
