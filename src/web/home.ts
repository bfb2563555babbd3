// The script of the page at /. It runs in the browser, requests the figures of the node every second and shows them.
import { element } from './page-element.js';

interface ClockAnswer {
  readonly cycle: number;
  readonly cycle_ms: number;
  readonly next_cycle_in_ms: number;
}

interface ActiveAnswer {
  readonly cycle: number;
  readonly machines: readonly ActiveMachine[];
}

interface ActiveMachine {
  readonly slug: string;
  readonly transitions: number;
  readonly last_transition_cycle: number;
  readonly contracts: number;
}

interface KeyAnswer {
  readonly version: string;
  readonly fingerprint: string;
}

interface RunningClock {
  readonly cycle: number;
  readonly lengthMs: number;
  /** The end of `cycle`, on the clock of the page. */
  readonly endMs: number;
}

const REFRESH_MS = 1_000;
const REFRESH_HIDDEN_MS = 5_000;
const CLOCK_MS = 50;

const number = new Intl.NumberFormat('en');
const windowChoice = element('cycles', HTMLSelectElement);
let clock: RunningClock | undefined;

element('choice', HTMLFormElement).addEventListener('submit', (event) => event.preventDefault());
windowChoice.addEventListener(
  'change',
  () => void showActive().catch((error) => show('status', (error as Error).message)),
);
setInterval(showClock, CLOCK_MS);
void refresh();

async function refresh(): Promise<void> {
  try {
    await Promise.all([readClock(), showActive()]);
    if (element('version').textContent === '–') await showKey();
    show('status', 'Live');
  } catch (error) {
    show('status', `The node does not answer: ${(error as Error).message}`);
  }
  setTimeout(refresh, document.hidden ? REFRESH_HIDDEN_MS : REFRESH_MS);
}

async function readClock(): Promise<void> {
  const { cycle, cycle_ms, next_cycle_in_ms } = await ask<ClockAnswer>('/api/clock');
  clock = { cycle, lengthMs: cycle_ms, endMs: nowMs() + next_cycle_in_ms };
  show('cycle-ms', number.format(cycle_ms));
}

/** Extrapolates from the last answer, so that the cycle advances between two answers. */
function showClock(): void {
  if (clock === undefined) return;
  const { cycle, lengthMs, endMs } = clock;
  const passed = Math.floor((nowMs() - endMs) / lengthMs) + 1;
  show('cycle', number.format(cycle + passed));
  element('progress', HTMLProgressElement).value = 1 - (endMs + passed * lengthMs - nowMs()) / lengthMs;
}

async function showActive(): Promise<void> {
  const { machines, cycle } = await ask<ActiveAnswer>(`/api/chain/active?cycles=${windowChoice.value}`);
  element('machines').replaceChildren(...machines.map((machine) => row(machine, cycle)));
  element('empty').hidden = machines.length > 0;
}

async function showKey(): Promise<void> {
  const { version, fingerprint } = await ask<KeyAnswer>('/api/updates/pubkey');
  show('version', version);
  show('fingerprint', fingerprint);
}

function row({ slug, transitions, last_transition_cycle, contracts }: ActiveMachine, cycle: number): HTMLElement {
  const line = document.createElement('tr');
  const ago = Math.max(0, cycle - last_transition_cycle);
  for (const text of [slug, number.format(transitions), number.format(ago), number.format(contracts)]) {
    const cell = document.createElement('td');
    cell.textContent = text;
    line.append(cell);
  }
  return line;
}

async function ask<Answer>(path: string): Promise<Answer> {
  const response = await fetch(path, { headers: { accept: 'application/json' }, cache: 'no-store' });
  const answer = (await response.json()) as { ok: boolean; detail?: string };
  if (!answer.ok) throw new Error(answer.detail);
  return answer as Answer;
}

/** Milliseconds on the clock of the page. */
function nowMs(): number {
  return Number(document.timeline.currentTime);
}

function show(id: string, text: string): void {
  const place = element(id);
  if (place.textContent !== text) place.textContent = text;
}
