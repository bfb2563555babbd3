// The step of action.yml that runs a command of Weir on each file: writes reports, adds them to the job summary, and annotates files whose
// expectations fail or that cannot be read.
//
//   scenarios/a.yaml ─► weir simulate ─► reports/1 ─► summary
//                                     └► ::error file=scenarios/a.yaml,line=3,col=12::…
//   deploy/          ─► weir diff git:origin/main deploy/ ─► the same, and one comment on the pull request
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const { WEIR_COMMAND: command = '', WEIR_OPTIONS = '', WEIR_BASE, WEIR_TOKEN } = process.env;
const { RUNNER_TEMP, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY, GITHUB_BASE_REF } = process.env;
const program = join(RUNNER_TEMP, 'weir/node_modules/@weir/cli/dist/cli/main.js');
/** GitHub refuses longer comments. */
const MOST_COMMENT = 65_000;
/** A job may use the action twice. */
const reports = mkdtempSync(join(RUNNER_TEMP, 'weir-reports-'));
const commands = ['simulate', 'replay', 'load', 'diff'];
const [files, options] = [process.argv.slice(2), WEIR_OPTIONS.split('\n')].map((lines) =>
  lines.map((line) => line.trim()).filter((line) => line !== ''),
);

if (!commands.includes(command)) end(`The input command is "${command}". It takes ${commands.join(', ')}.`);
if (files.length === 0) end('The input files names none.');
const base = WEIR_BASE || (GITHUB_BASE_REF && `origin/${GITHUB_BASE_REF}`);
if (command === 'diff' && !base) end('The input base is empty, and the job is not of a pull request.');
const summaries = [];
appendFileSync(GITHUB_OUTPUT, `reports=${reports}\n`);
let worst = 0;
const runOne = command === 'diff' ? diff : run;
for (const [index, name] of files.entries()) {
  // A pull request may add a file that is called like an option.
  const file = name.startsWith('-') ? `./${name}` : name;
  worst = Math.max(worst, runOne(file, join(reports, String(index + 1))));
}
if (WEIR_TOKEN && summaries.length > 0) await comment(summaries.join('\n\n')).catch(notWritten);
process.exitCode = worst;

/** The command itself annotates the changed lines. */
function diff(file, out) {
  const words = ['diff', `git:${base}`, file, ...options, '--annotate', '--out', out];
  const { status, stdout, stderr } = weir(words, 'pipe');
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  const summary = join(out, 'summary.md');
  if (!existsSync(summary)) annotate(stderr.trim() || `weir diff ended with exit code ${status}.`, { file });
  else {
    summaries.push(readFileSync(summary, 'utf8'));
    appendFileSync(GITHUB_STEP_SUMMARY, `${summaries.at(-1)}\n`);
  }
  return status ?? 70;
}

/** Keeps one comment per pull request, identified by its first line. */
async function comment(text) {
  const { GITHUB_API_URL = 'https://api.github.com', GITHUB_REPOSITORY, GITHUB_EVENT_PATH } = process.env;
  const { number } = JSON.parse(readFileSync(GITHUB_EVENT_PATH, 'utf8')).pull_request ?? {};
  if (number === undefined) return;
  const issues = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues`;
  const ask = async (method, url, body) => {
    const headers = { authorization: `Bearer ${WEIR_TOKEN}`, accept: 'application/vnd.github+json' };
    const answer = await fetch(url, { method, headers, body: body && JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${url} answered ${answer.status}`);
    return answer.json();
  };
  const mark = '<!-- weir diff -->';
  const body = `${mark}\n${text}`.slice(0, MOST_COMMENT);
  for (let page = 1; ; page += 1) {
    const comments = await ask('GET', `${issues}/${number}/comments?per_page=100&page=${page}`);
    const own = comments.find((one) => one.body.startsWith(mark));
    if (own !== undefined) return ask('PATCH', `${issues}/comments/${own.id}`, { body });
    if (comments.length < 100) return ask('POST', `${issues}/${number}/comments`, { body });
  }
}

function notWritten({ message }) {
  const why = 'The token of a pull request from a fork may only read. The summary of the job has the text.';
  annotate(`No comment was written: ${message}. ${why}`, {}, 'warning');
}

function run(file, out) {
  const { status, stdout } = weir([command, file, ...options, '--out', out, '--json'], ['ignore', 'pipe', 'inherit']);
  for (const { message, ...place } of faultsIn(answerOf(stdout), status)) annotate(message, { file, ...place });
  if (existsSync(join(out, 'outcome.json'))) {
    weir(['report', out], 'inherit');
    const summary = join(RUNNER_TEMP, 'weir-summary.md');
    weir(['report', out, '--out', summary], 'pipe');
    appendFileSync(GITHUB_STEP_SUMMARY, `${readFileSync(summary, 'utf8')}\n`);
  }
  return status ?? 70;
}

function weir(words, stdio) {
  return spawnSync(process.execPath, [program, ...words], { stdio, encoding: 'utf8', maxBuffer: 2 ** 28 });
}

function answerOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function faultsIn({ ok, what = '', why = '', fix = '', errors = [], expectations = [], comparison, verdict }, status) {
  if (ok === false && errors.length === 0)
    return [{ message: [what, why, fix].filter((text) => text !== '').join(' ') }];
  const read = errors.map(({ path, message }) => {
    const [, line, col] = /^line (\d+), column (\d+)/.exec(path) ?? [];
    return {
      message: `${what} ${path}: ${message}. ${fix}`.replace('?. ', '? '),
      ...(line === undefined ? {} : { line, col }),
    };
  });
  const broken = expectations
    .filter(({ held }) => held === false)
    .map(({ name, expected, actual }) => ({ message: `${name ?? 'Expected'}: ${expected}, found ${actual}` }));
  const compared =
    verdict === 'differs' || verdict === 'invalid' ? [{ message: comparison?.reason ?? `The run is ${verdict}.` }] : [];
  const found = [...read, ...broken, ...compared];
  return found.length > 0 || status === 0 ? found : [{ message: `weir ${command} ended with exit code ${status}.` }];
}

function annotate(message, properties, level = 'error') {
  const escaped = (text) => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const value = (text) => escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const named = Object.entries(properties).map(([name, text]) => `${name}=${value(text)}`);
  process.stdout.write(`::${level} ${named.join(',')}::${escaped(message)}\n`);
}

function end(message) {
  annotate(message, {});
  process.exit(2);
}
