// Plays the scripts of an investigation to a program that is started repeatedly, or to whatever calls a port.
//
//   start k ─► http://127.0.0.1:PORT/weir-k/…      its calls are those below its path; several starts run at once
//   a start ends with its process, when its calls are served, or after a silence
import { type ChildProcess, spawn } from 'node:child_process';
import { Failure } from '../../../core/schema/failure.js';
import { WallClock } from '../../../core/time/wall.js';
import type { ClientInvestigation, Played } from './client-investigation.js';
import type { RetryPolicy } from './retry-policy.js';
import { type Call, failsAlways, lastGapMs, type Script, SILENCE } from './script.js';
import { type Foreign, type OpenCall, ScriptedServer, seenCall } from './scripted-server.js';
import type { TimerLateness } from './wait-law.js';

interface PlayOptions {
  readonly port: number;
  /** Program and arguments; `{url}` is replaced. Undefined: waits for calls. */
  readonly command: readonly string[] | undefined;
  readonly timeMs: number;
  readonly signal: AbortSignal;
  readonly onReady: (url: string) => void;
  readonly onProgress: (share: number, words: string) => void;
}

export interface PlayedPolicy {
  readonly policy: RetryPolicy;
  readonly calls: readonly Call[];
  readonly seconds: number;
  /** Whether calls of one path overlapped, so that attempts could not be assigned to calls. */
  readonly isMixed: boolean;
}

const MOST_STARTS = 16;
const TICK_MS = 50;
/** A longer delay of a timer is a stall of the machine. */
const STALL_MS = 200;
/** Starts in a row without a request before a program that has called before is given up. */
const MOST_IDLE = 3;
const ROUND_MS = 70_000;
/** Time kept for the last reckoning, as a multiple of the longest before: it grows with the calls. */
const RESERVED = 2;
/** Time for a program to end or to call again after all its calls were served. */
const GRACE_MS = 1_500;
/** Time for the first call, before a program is given up. */
const START_MS = 30_000;

interface Start {
  readonly script: Script;
  readonly number: number;
  readonly startedMs: number;
  readonly child: ChildProcess | undefined;
  readonly calls: OpenCall[];
  stderr: string;
  failure?: NodeJS.ErrnoException | undefined;
  exitCode?: number | null | undefined;
  hasEnded: boolean;
  untilMs?: number;
}

/** @throws Failure `port_in_use`; `wrong_usage` if the command cannot be started; `answer_unreadable` if it makes no request of HTTP/1 */
export async function playScripts(investigation: ClientInvestigation, options: PlayOptions): Promise<PlayedPolicy> {
  const clock = new WallClock(1_000);
  const player = new Player(clock, options);
  const url = await player.listen();
  options.onReady(url);
  clock.start();
  const beganMs = clock.monotonicMs();
  const all: Call[] = [];
  try {
    let next = investigation.next();
    // A further reckoning must end in time, too.
    let reckoningMs = 0;
    const leftMs = () => options.timeMs - (clock.monotonicMs() - beganMs) - RESERVED * reckoningMs;
    const onTick = () =>
      options.onProgress((clock.monotonicMs() - beganMs) / options.timeMs, `${all.length} calls seen`);
    while (next.done !== true) {
      const calls = await player.play(next.value, Math.min(ROUND_MS, leftMs()), onTick);
      all.push(...calls);
      const played: Played = {
        calls,
        leftMs: leftMs(),
        timers: player.timers,
        isOver: options.signal.aborted || leftMs() <= 0,
      };
      const fromMs = clock.monotonicMs();
      next = investigation.next(played);
      reckoningMs = Math.max(reckoningMs, clock.monotonicMs() - fromMs);
    }
    const seconds = (clock.monotonicMs() - beganMs) / 1000;
    return { policy: next.value, calls: all, seconds, isMixed: player.isMixed };
  } finally {
    clock.stop();
    await player.close();
  }
}

class Player {
  readonly #server: ScriptedServer;
  readonly #ticks: { readonly atMs: number; readonly lateMs: number }[] = [];
  #hasCalled = false;
  /** Whether the program has ended by itself after a call. */
  #hasEnded = false;
  #idle = 0;
  #url = '';
  #started = 0;
  #waiting: Script[] = [];
  #running: Start[] = [];
  /** Whether the program uses the path of its URL; otherwise only one start runs at a time. */
  #keepsPath = true;

  constructor(
    readonly clock: WallClock,
    readonly options: PlayOptions,
  ) {
    this.#server = new ScriptedServer(clock, (segment, method) => this.#assign(segment, method));
  }

  get timers(): TimerLateness {
    const lates = this.#ticks.map(({ lateMs }) => Math.min(lateMs, STALL_MS)).sort((a, b) => a - b);
    const { length } = lates;
    return {
      averageMs: lates.reduce((sum, ms) => sum + ms, 0) / Math.max(1, length),
      oftenMs: lates[Math.floor(0.95 * length)] ?? 0,
    };
  }

  get isMixed(): boolean {
    // Without a program, the pause between two calls of one path separates them.
    return this.#server.isMixed || (this.#server.isReused && this.options.command !== undefined);
  }

  async listen(): Promise<string> {
    this.#url = await this.#server.listen(this.options.port);
    return this.#url;
  }

  async close(): Promise<void> {
    for (const start of this.#running) this.#end(start);
    await this.#server.close();
  }

  async play(scripts: readonly Script[], mostMs: number, onTick: () => void): Promise<Call[]> {
    this.#waiting = [...scripts];
    this.#running = [];
    const done: Start[] = [];
    const untilMs = this.clock.monotonicMs() + mostMs;
    const { signal, command } = this.options;
    while (this.#waiting.length + this.#running.length > 0 && !signal.aborted) {
      const nowMs = this.clock.monotonicMs();
      // The first call of a program started by someone else may take any time.
      if (nowMs > untilMs && (command !== undefined || this.#running.length > 0 || done.length > 0)) break;
      if (command !== undefined) this.#startNext();
      await this.clock.sleep(TICK_MS, signal);
      if (!this.#hasCalled && this.#server.foreign !== undefined) throw otherProtocol(this.#server.foreign);
      onTick();
      const atMs = this.clock.monotonicMs();
      this.#ticks.push({ atMs, lateMs: atMs - nowMs - TICK_MS });
      const over = this.#running.filter((start) => this.#isOver(start));
      for (const start of over) {
        this.#end(start);
        if (start.calls.length === 0) this.#startAgain(start);
      }
      done.push(...over);
      this.#running = this.#running.filter((start) => !over.includes(start));
    }
    for (const start of this.#running) this.#end(start);
    return [...done, ...this.#running.splice(0)].flatMap((start) =>
      start.calls.filter(({ attempts }) => attempts.length > 0).map((call) => this.#seen(call, start)),
    );
  }

  /** A stall of the machine may end the observation before the program calls. */
  #startAgain(start: Start): void {
    this.#idle += 1;
    if (start.failure !== undefined) throw cannotStart(start.failure, this.options.command![0]!);
    if (!this.#hasCalled || this.#idle >= MOST_IDLE) throw noRequest(start);
    this.#waiting.push(start.script);
  }

  /** Silence of a call, without stalls of this process: the program may have stalled with it. */
  #silentMs({ attempts }: OpenCall, untilMs: number): number {
    const { endedMs } = attempts.at(-1)!;
    return untilMs - endedMs - this.#stalledMs(endedMs, untilMs);
  }

  #stalledMs(fromMs: number, toMs: number): number {
    const stalls = this.#ticks.filter(({ atMs, lateMs }) => lateMs > STALL_MS && atMs > fromMs && atMs - lateMs < toMs);
    return stalls.reduce((sum, { lateMs }) => sum + lateMs, 0);
  }

  #seen(call: OpenCall, { hasEnded, untilMs }: Start): Call {
    const attempts = call.attempts.map((one, i) => {
      const last = call.attempts[i - 1];
      return { ...one, isStalled: last !== undefined && this.#stalledMs(last.endedMs, one.arrivedMs) > 0 };
    });
    if (hasEnded) return seenCall({ ...call, attempts }, Infinity);
    return { ...seenCall({ ...call, attempts }, this.#silentMs(call, untilMs!)), isRunning: this.#hasEnded };
  }

  /** One start at a time: a starting program takes a core, and would delay the others. */
  #startNext(): void {
    const isStarting = this.#running.some(({ calls }) => calls.length === 0);
    const most = this.#keepsPath ? MOST_STARTS : 1;
    if (isStarting || this.#running.length >= most || this.#waiting.length === 0) return;
    const [file, ...rest] = this.options.command!;
    const number = this.#started++;
    const url = `${this.#url}/weir-${number}`;
    const child = spawn(
      file!,
      rest.map((word) => word.replaceAll('{url}', url)),
      // Its own process group, so that its children end with it.
      { detached: true, stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, WEIR_URL: url } },
    );
    const start = this.#begin(this.#waiting.shift()!, number, child);
    child.on('error', (error) => {
      start.failure = error;
      start.hasEnded = true;
    });
    child.on('exit', (code) => {
      start.exitCode = code;
      start.hasEnded = start.untilMs === undefined;
      this.#hasEnded ||= start.hasEnded && start.calls.length > 0;
    });
    child.stderr?.on('data', (data: Buffer) => {
      start.stderr = `${start.stderr}${data}`.slice(-500);
    });
  }

  #begin(script: Script, number: number, child?: ChildProcess): Start {
    const startedMs = this.clock.monotonicMs();
    const start: Start = { script, number, startedMs, child, calls: [], stderr: '', hasEnded: false };
    this.#running.push(start);
    return start;
  }

  #assign(segment: string, method: string): OpenCall | undefined {
    const isStarted = this.options.command !== undefined;
    const start = isStarted ? this.#startAt(segment) : this.#startWaiting();
    if (start === undefined) return undefined;
    this.#hasCalled = true;
    this.#idle = 0;
    const { script, number, calls } = start;
    const place = calls.length;
    const isWarm = ({ attempts }: OpenCall) => attempts.length > 1 || attempts[0]?.reply.status === 200;
    // Calls that begin at once are all slowed by the start of their process.
    const isFresh = !calls.some(isWarm) && (isStarted || number === 0);
    const call: OpenCall = { script, method, start: number, place, isFresh, attempts: [], waiting: 0 };
    calls.push(call);
    return call;
  }

  #startAt(segment: string): Start | undefined {
    const named = /^weir-(\d+)$/.exec(segment);
    if (named === null && this.#running.length === 1) this.#keepsPath = false;
    return named === null ? this.#running[0] : this.#running.find(({ number }) => number === Number(named[1]));
  }

  #startWaiting(): Start | undefined {
    const script = this.#waiting.shift();
    return script && this.#begin(script, this.#started++);
  }

  #end(start: Start): void {
    start.untilMs = this.clock.monotonicMs();
    end(start);
    for (const call of start.calls) this.#server.forget(call);
  }

  #isOver(start: Start): boolean {
    const { calls, hasEnded, startedMs } = start;
    const nowMs = this.clock.monotonicMs();
    if (calls.length === 0) return hasEnded || nowMs - startedMs > START_MS;
    if (hasEnded) return calls.every(({ waiting }) => waiting === 0);
    return calls.every((call) => call.waiting === 0 && isQuiet(call, this.#silentMs(call, nowMs)));
  }
}

function isQuiet({ script, attempts }: OpenCall, silentMs: number): boolean {
  const last = attempts.at(-1)!;
  if (last.reply.status === 200 && !last.hungUp) return silentMs > GRACE_MS;
  return silentMs > Math.max(script.patienceMs, failsAlways(script) ? SILENCE.factor * lastGapMs({ attempts }) : 0);
}

function end({ child, hasEnded }: Start): void {
  if (child?.pid === undefined || hasEnded) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

function cannotStart({ code, message }: NodeJS.ErrnoException, program: string): Failure {
  return new Failure('wrong_usage', {
    what: `${program} cannot be started.`,
    // EACCES, too, where a folder of the PATH cannot be read.
    why: code === 'ENOENT' || code === 'EACCES' ? 'There is no such program, or it may not be run.' : message,
    fix: 'Give a program and its arguments after --, as in -- curl --retry 3 {url}.',
  });
}

function otherProtocol(foreign: Foreign): Failure {
  const fixes: Readonly<Record<Foreign, string>> = {
    TLS: 'Give it the URL with http:, not https:.',
    'HTTP/2':
      'Let it use HTTP/1.1. gRPC cannot: the retry policy of its service config is a client of a scenario, as like: grpc.',
  };
  return new Failure('answer_unreadable', {
    what: `The program speaks ${foreign} to the port.`,
    why: 'Weir answers plain HTTP/1.1 there, so it saw no request.',
    fix: fixes[foreign],
  });
}

function noRequest({ stderr, hasEnded, exitCode }: Start): Failure {
  const last = stderr.trim().split('\n').at(-1);
  const end = !hasEnded
    ? 'It was silent for 30 s.'
    : `It ended${exitCode == null ? '' : ` with exit code ${exitCode}`}.`;
  return new Failure('answer_unreadable', {
    what: 'The program made no request.',
    why: last === undefined || last === '' ? end : `${end} It said: ${last}`,
    fix: 'Write {url} where its arguments have the address, or let it read the environment variable WEIR_URL.',
  });
}
