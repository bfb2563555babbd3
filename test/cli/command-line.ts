// Runs the program: `weir` in a process of its own, as a person does; `weirHere` in this one, for what a command prints and refuses,
// without the second that a process takes to start.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { runCommandLine } from '../../src/cli/program.js';
import { afterFile, afterTest, temporaryFolder } from '../left-behind.js';
import { expectAnswer } from './json-answer.js';

export { temporaryFolder };

export const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** Lines of standard output so far. */
  readonly lines: string[];
  /** Standard error so far. */
  errors(): string;
  /** Resolves once a line of standard output fits. */
  line(fits: (line: string) => boolean): Promise<string>;
  /** Resolves when the process is gone, with its exit code or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

export interface Serving extends Running {
  readonly url: string;
  readonly data: string | null;
  readonly fingerprint: string;
  readonly pid: number;
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals | null>;
}

/** A text is split at its spaces. */
type Words = string | readonly string[];

const wordsOf = (words: Words) => (typeof words === 'string' ? words.split(' ') : words);

/** Runs a command to its end, in the folder `cwd`. */
export async function weir(words: Words, env: NodeJS.ProcessEnv = {}, input = '', cwd?: string): Promise<Ran> {
  return answered(words, await ran(start(process.execPath, [built(), ...wordsOf(words)], env, cwd), input));
}

/** What is printed with --json has its schema, in each test. */
async function answered(words: Words, found: Ran): Promise<Ran> {
  if (wordsOf(words).includes('--json') && found.code !== 2) await expectAnswer(wordsOf(words), found.out);
  return found;
}

let before: Promise<unknown> = Promise.resolve();

const STOPS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Runs a command of the sources in this process, after the ones that were asked for before it. Not for commands
 * that serve, and not for logs from standard input, which are read from its file descriptor.
 */
export function weirHere(words: Words, env: NodeJS.ProcessEnv = {}, input = '', cwd?: string): Promise<Ran> {
  const ran = before.then(() => ranHere(wordsOf(words), env, input, cwd));
  before = ran.catch(() => {});
  return ran.then((found) => answered(words, found));
}

async function ranHere(args: readonly string[], env: NodeJS.ProcessEnv, input: string, cwd?: string): Promise<Ran> {
  const [out, err] = [captured(process.stdout), captured(process.stderr)];
  const { stdin, exitCode, env: own } = process;
  const { log } = console;
  // What completes is printed by yargs.
  console.log = (line: string) => process.stdout.write(`${line}\n`);
  const folder = process.cwd();
  const listeners = STOPS.map((name) => [name, process.listeners(name)] as const);
  process.env = environment(env);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  process.exitCode = 0;
  if (cwd !== undefined) process.chdir(cwd);
  try {
    await runCommandLine(args);
    return { code: Number(process.exitCode), out: out.text(), err: err.text() };
  } finally {
    console.log = log;
    process.chdir(folder);
    process.exitCode = exitCode;
    Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
    process.env = own;
    // A command that fails leaves what stops it to the end of its process.
    for (const [name, before] of listeners)
      for (const listener of process.listeners(name)) if (!before.includes(listener)) process.off(name, listener);
    out.release();
    err.release();
  }
}

/** Keeps what is written to a stream, instead of writing it. */
function captured(stream: NodeJS.WriteStream): { text(): string; release(): void } {
  const chunks: Buffer[] = [];
  const write = stream.write;
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]) => {
    chunks.push(Buffer.from(chunk as string));
    const done = more.find((one) => typeof one === 'function');
    if (done !== undefined) queueMicrotask(done as () => void);
    return true;
  };
  return {
    text: () => Buffer.concat(chunks).toString('utf8'),
    release: () => {
      stream.write = write;
    },
  };
}

/** Runs any other program to its end, for example curl. */
export async function run(command: string, args: readonly string[], input = ''): Promise<Ran> {
  return ran(start(command, args, {}), input);
}

/** Starts a command that goes on until it is ended. */
export function begin(words: Words, env: NodeJS.ProcessEnv = {}): Running {
  return watched(start(process.execPath, [built(), ...wordsOf(words)], env));
}

export function beginOther(command: string, args: readonly string[]): Running {
  return watched(start(command, args, {}));
}

/** A node on a free port unless the arguments say otherwise; ready once this resolves. @param after what ends it */
export async function serve(
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  after = afterTest,
): Promise<Serving> {
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const metrics = args.includes('--metrics') ? [] : ['--metrics', 'open'];
  const cycle = args.includes('--cycle-ms') ? [] : ['--cycle-ms', '50'];
  const running = begin(['serve', '--json', ...cycle, ...port, ...metrics, ...args], env);
  const first = await Promise.race([running.line(() => true), running.ended]);
  // A node that refuses to start says why in JSON, too.
  const isReady = typeof first === 'string' && first.startsWith('{"ok":true');
  if (!isReady) throw new Error(`the node did not start: ${first} ${running.errors()}`);
  await expectAnswer(['serve'], first);
  const { url, data, fingerprint, pid } = JSON.parse(first);
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    running.child.kill(signal);
    return running.ended;
  };
  after(() => stop('SIGKILL'));
  return { ...running, url, data, fingerprint, pid, stop };
}

function start(command: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string): ChildProcess {
  const child = spawn(command, args, { env: environment(env), ...(cwd !== undefined && { cwd }) });
  afterFile(() => child.exitCode === null && child.kill('SIGKILL'));
  return child;
}

let config: string | undefined;

/** Nodes that are pinned stay within a test file: a later node may have the port of an earlier one. */
function environment(given: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { WEIR_URL: _url, WEIR_KEY: _key, ...inherited } = process.env;
  if (config === undefined) {
    config = temporaryFolder();
    afterFile(() => {
      config = undefined;
    });
  }
  return { ...inherited, NO_COLOR: '1', WEIR_CONFIG: config, ...given };
}

async function ran(child: ChildProcess, input: string): Promise<Ran> {
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), endOf(child)]);
  return { out, err, code: typeof code === 'number' ? code : null };
}

function watched(child: ChildProcess): Running {
  const lines: string[] = [];
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  let waiting: { fits: (line: string) => boolean; resolve: (line: string) => void }[] = [];
  if (child.stdout === null) throw new Error('standard output is not piped');
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const { fits, resolve } of waiting) if (fits(line)) resolve(line);
    waiting = waiting.filter(({ fits }) => !fits(line));
  });
  const line = (fits: (line: string) => boolean) =>
    new Promise<string>((resolve) => {
      const known = lines.find(fits);
      if (known === undefined) waiting.push({ fits, resolve });
      else resolve(known);
    });
  return { child, lines, errors: () => errors, line, ended: endOf(child) };
}

function endOf(child: ChildProcess): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
}

async function text(stream: NodeJS.ReadableStream | null): Promise<string> {
  let all = '';
  for await (const chunk of stream ?? []) all += String(chunk);
  return all;
}

function built(): string {
  if (!existsSync(program)) throw new Error('There is no build to run: `npm run build` comes first.');
  return program;
}

/** The command refuses what each case gives it: with exit code 2, with all of these words, without a stack; with --json as JSON. */
export function refuses(command: Words, cases: readonly (readonly [args: Words, ...words: readonly string[]])[]): void {
  it.each(cases)(`weir ${wordsOf(command).join(' ')} refuses %j`, async (args, ...words) => {
    const line = [...wordsOf(command), ...wordsOf(args)];
    const { code, out, err } = await weirHere(line);
    const [said, none] = line.includes('--json') ? [out, err] : [err, out];
    expect([code, none, said.includes('    at ')]).toEqual([2, '', false]);
    for (const one of words) expect(said).toContain(one);
  });
}

/** A scenario that runs in a moment and whose expectation does not always hold. */
export const smallScenario = `question: Q?
duration: 300
limiter: { threshold: 4, within: 5 }
arrivals: [{ model: poisson, rate: 1 }]
expect: [limited <= 20]
`;

/** The environment of a person who has minted a key at a node, and has made these machines. */
export async function personAt(url: string, ...machines: readonly string[]) {
  const env = { WEIR_CONFIG: temporaryFolder(), WEIR_URL: url };
  await weirHere('node mint', env);
  for (const slug of machines) await weirHere(`node machine create ${slug}`, env);
  return env;
}
