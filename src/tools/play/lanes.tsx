// Requests as marks that move from the clients to the service; the run can be played, paused and scrubbed.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { VERSION } from '../../core/version.js';
import { plainNumber } from '../../report/chart-specs/axis-text.js';
import { palettes, type Theme } from '../../report/chart-specs/palette.js';
import { StateDiagram } from '../../web/state-diagram.js';
import { movePlayhead } from './charts.js';
import { paintDensity, paintMarks, type Scene } from './lane-paint.js';
import { MarkTable } from './marks.js';
import type { MachineRun, Picture } from './played.js';

const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** Visible flight of a request, in ms of screen time. */
const FLIGHT_MS = 600;
const MOST_PER_SECOND = 2_000;
/** Seconds of screen time for the whole run; 0: real time. */
const paces = { 'real time': 0, 'the run in 2 min': 120, 'the run in 30 s': 30, 'the run in 10 s': 10 } as const;
type Pace = keyof typeof paces;

interface LanesProps {
  readonly picture: Picture;
  readonly theme: Theme;
  /** Adds a request at an instant, in ms from the start. Undefined: no such button. */
  readonly onAsk?: ((atMs: number) => void) | undefined;
}

export function Lanes({ picture, theme, onAsk }: LanesProps) {
  const { journeys, cycleMs, cycles, startMs, service } = picture;
  const runMs = cycles * cycleMs;
  const canvas = useRef<HTMLCanvasElement>(null);
  const atMs = useRef(0);
  const [shownMs, setShownMs] = useState(0);
  const [isPlaying, setPlaying] = useState(!calm.matches);
  const [pace, setPace] = useState<Pace>('the run in 30 s');
  const table = useMemo(() => new MarkTable(journeys, service !== undefined), [journeys]);
  const speed = paces[pace] === 0 ? 1 : runMs / (1000 * paces[pace]);
  const draw = () => {
    // A frame may be due after the figure has left the page.
    if (canvas.current === null) return;
    paint(sceneOf(canvas.current, theme, picture, atMs.current), table, startMs + atMs.current, speed);
    movePlayhead(atMs.current / cycleMs);
  };
  const go = (ms: number) => {
    atMs.current = Math.min(runMs, Math.max(0, ms));
    setShownMs(atMs.current);
    draw();
  };
  useLayoutEffect(() => {
    if (atMs.current > runMs) atMs.current = 0;
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  });
  useEffect(() => {
    if (!isPlaying) return undefined;
    let shown = 0;
    return eachFrame((passedMs, nowMs) => {
      atMs.current = (atMs.current + passedMs * speed) % runMs;
      draw();
      if (nowMs - shown <= 250) return;
      setShownMs(atMs.current);
      shown = nowMs;
    });
  }, [isPlaying, speed, table, theme]);
  const words = wordsAt(table, picture, shownMs);
  return (
    <figure class="lanes">
      <h2>Each request</h2>
      {picture.nearsLimit && <Machine run={picture.machine} cycle={shownMs / cycleMs} />}
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Requests on their way. ${words}`}
        data-at={Math.round(shownMs)}
        onClick={() => onAsk?.(atMs.current)}
      />
      <div class="row deck">
        <button type="button" aria-pressed={isPlaying} onClick={() => setPlaying(!isPlaying)}>
          {isPlaying ? 'Pause' : 'Play'}
        </button>
        <TimeInRun
          shownMs={shownMs}
          runMs={runMs}
          words={words}
          onGo={(ms) => {
            setPlaying(false);
            go(ms);
          }}
        />
        <PaceChoice chosen={pace} onChoose={setPace} />
        {onAsk && (
          <button type="button" onClick={() => onAsk(atMs.current)}>
            One request now
          </button>
        )}
      </div>
      <p class="quiet now">{words}</p>
      <figcaption>
        {speed > 1.05 ? `${plainNumber(speed)} times as fast` : 'in real time'}
        {journeys.left > 0 && `; the first ${plainNumber(journeys.decidedMs.length)} requests`}. Weir {VERSION},{' '}
        <code>{picture.outcome.digest.slice(0, 15)}</code>
      </figcaption>
    </figure>
  );
}

function paint(scene: Scene, table: MarkTable, ms: number, speed: number): void {
  const flightMs = FLIGHT_MS * speed;
  const { requests } = table.decidedIn(ms - 1000 * speed, ms);
  if (requests > MOST_PER_SECOND) paintDensity(scene, table.decidedIn(ms - flightMs, ms));
  else paintMarks(scene, table.at(ms, flightMs));
}

function PaceChoice({ chosen, onChoose }: { readonly chosen: Pace; readonly onChoose: (pace: Pace) => void }) {
  return (
    <select aria-label="Speed" value={chosen} onChange={({ currentTarget }) => onChoose(currentTarget.value as Pace)}>
      {Object.keys(paces).map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

/** @returns ends it */
function eachFrame(show: (passedMs: number, nowMs: number) => void): () => void {
  let last: number | undefined;
  let frame = requestAnimationFrame(function step(nowMs) {
    // A background page has no frames: the run resumes where it was.
    show(last === undefined ? 0 : Math.min(100, nowMs - last), nowMs);
    last = nowMs;
    frame = requestAnimationFrame(step);
  });
  return () => cancelAnimationFrame(frame);
}

interface TimeInRunProps {
  readonly shownMs: number;
  readonly runMs: number;
  /** What happens then. */
  readonly words: string;
  readonly onGo: (ms: number) => void;
}

function TimeInRun({ shownMs, runMs, words, onGo }: TimeInRunProps) {
  return (
    <>
      <input
        type="range"
        min={0}
        max={Math.round(runMs)}
        step={Math.max(1, Math.round(runMs / 2000))}
        value={Math.round(shownMs)}
        aria-label="Time in the run"
        aria-valuetext={`${seconds(shownMs)} of ${seconds(runMs)}. ${words}`}
        onInput={({ currentTarget }) => onGo(Number(currentTarget.value))}
      />
      <output>{seconds(shownMs)}</output>
    </>
  );
}

function Machine({
  run: { states, arrows, initial, moves },
  cycle,
}: {
  readonly run: MachineRun;
  readonly cycle: number;
}) {
  const at = moves.findLast((move) => move.cycle <= cycle)?.to ?? initial;
  return <StateDiagram states={states} arrows={arrows} at={at} label={`The limiter is ${at}.`} />;
}

function sceneOf(canvas: HTMLCanvasElement, theme: Theme, picture: Picture, atMs: number): Scene {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = devicePixelRatio;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d')!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const cycle = atMs / picture.cycleMs;
  const { window, service } = picture;
  const [count] = window?.lines ?? [];
  const column = count?.xs.findLastIndex((x) => x <= cycle) ?? -1;
  const threshold = window && picture.outcome.by_contract[0]?.threshold;
  const used = threshold ? (count?.ys[column] ?? 0) / threshold : undefined;
  return {
    context,
    width,
    height,
    palette: palettes[theme],
    service,
    isLimiting: isLimitingAt(window, cycle),
    used,
    hasClients: picture.hasClients,
  };
}

function isLimitingAt(window: Picture['window'], cycle: number): boolean {
  return window?.shades.some(([from, to]) => cycle >= from && cycle < to) === true;
}

function wordsAt(table: MarkTable, { startMs, service, window, cycleMs }: Picture, atMs: number): string {
  const { requests, limited } = table.decidedIn(Number.NEGATIVE_INFINITY, startMs + atMs);
  const { waiting, serving, pausing } = table.at(startMs + atMs, 0);
  const isLimiting = isLimitingAt(window, atMs / cycleMs);
  return [
    `At ${seconds(atMs)}: ${plainNumber(requests - limited)} admitted and ${plainNumber(limited)} limited so far`,
    ...(window === undefined ? [] : [isLimiting ? 'the limiter is limiting' : 'the limiter admits']),
    ...(service === undefined ? [] : [`${plainNumber(waiting)} waiting, ${plainNumber(serving)} in service`]),
    ...(pausing === 0 ? [] : [`${plainNumber(pausing)} clients pause before they try again`]),
  ].join('; ');
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
