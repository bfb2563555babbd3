import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../left-behind.js';
import { loopback } from '../loopback.js';
import { personAt, program, run, serve, weir, weirHere } from './command-line.js';

const node = await serve(['--store', 'memory']);
const env = await personAt(node.url, 'edge', 'bare');
await weirHere('node deploy edge --threshold 1 --within 1000', env);

// What was asked, the code that is told, the exit code.
it.each([
  ['node clock --url http://127.0.0.1:1', 'node_unreachable', 5],
  ['node clock --url ftp://127.0.0.1', 'wrong_usage', 2],
  ['node clock --url http://name:word@127.0.0.1', 'wrong_usage', 2],
  ['node clock --url nonsense', 'wrong_usage', 2],
  ['node clock --frobnicate', 'wrong_usage', 2],
  ['node machine', 'wrong_usage', 2],
  ['node machine create', 'wrong_usage', 2],
  ['node machine create EDGE', 'invalid_input', 2],
  ['node machine create edge', 'slug_taken', 2],
  ['node machine show nope', 'machine_not_found', 2],
  ['node keys make gate --for 36h', 'invalid_input', 2],
  ['node keys rotate --keep 1500ms', 'invalid_input', 2],
  ['node machine show ..', 'wrong_usage', 2],
  ['node deploy edge --threshold 0', 'wrong_usage', 2],
  ['node deploy edge --limit /nowhere.json', 'unreadable_file', 2],
  ['node deploy edge --limit 3/s --within 3', 'wrong_usage', 2],
  ['node inspect nothing', 'template_not_found', 2],
  ['node operators KO43', 'operator_not_found', 2],
  ['node event edge --count x', 'wrong_usage', 2],
  ['node event edge --count 1 --count 2', 'wrong_usage', 2],
  ['node event edge --type nothing', 'unknown_event_type', 2],
  ['node event edge --cycle 1', 'event_too_old', 2],
  ['node gate bare', 'wrong_usage', 2],
  ['node gate edge nope', 'contract_not_found', 2],
  ['node transition edge allowing', 'no_transition', 1],
  ['node shift --count 33', 'wrong_usage', 2],
  ['node shift --set S', 'wrong_usage', 2],
  ['node session end', 'wrong_usage', 2],
  ['node record edge --out /nowhere/edge.ndjson', 'unwritable_folder', 2],
  ['verify /nowhere.ndjson', 'unreadable_file', 2],
  ['verify README.md', 'unreadable_file', 2],
  [`verify ${process.execPath}`, 'unreadable_file', 2],
])('weir %s is refused: %s', async (line, told, exit) => {
  const failure = await failureOf(line);
  expect([failure.code, failure.exit]).toEqual([told, exit]);
});

it.each([
  ['node clock --url http://127.0.0.1:1 --json', 5, 'node_unreachable'],
  ['node clock --json --url', 2, 'wrong_usage'],
])('the process of a refused command ends with its exit code: %s', async (line, exit, told) => {
  const { code, out } = await weir(line.split(' '), env);
  expect([code, JSON.parse(out).code]).toEqual([exit, told]);
});

// Node's recursive mkdir never returns below /proc, and a thread that is in it hears no signal.
const places = ['/proc/x', '/proc/self/fd/x', '/dev/full', 'LICENSE'];
const writing = [
  'simulate scenarios/burst.yaml --out',
  'sweep scenarios/burst.yaml --set limiter.threshold=1,2 --out',
  'sweep scenarios/outage.yaml --map --set arrivals.0.rate=100/s..150/s:50/s --set faults.0.to=6s..7s:1s --out',
  'recommend scenarios/shop.log --out',
  'replay scenarios/shop.log --threshold 3 --out',
  'replay scenarios/shop.log --threshold 3 --compare weir,gcra --out',
  'load scenarios/burst.yaml --out',
  'play --out',
  'init',
  'serve --port 0 --data',
];
it.each(writing.flatMap((line) => places.map((place) => `${line} ${place}`)))('weir %s is refused', async (line) => {
  const failure = await failureOf(line);
  expect([failure.code, failure.exit]).toEqual(['unwritable_folder', 2]);
});

it('a refusal tells a person what, why and what to do, and no stack', async () => {
  const { code, out, err } = await weirHere(['node', 'machine', 'list'], { ...env, WEIR_KEY: 'wrong' });
  expect({ code, out, err }).toEqual({
    code: 2,
    out: '',
    err: `weir: The key is not valid. [credential_invalid]
  why  It is unknown, expired or revoked.
  fix  Get one with \`weir node mint\` (POST /api/demo-key/mint).
`,
  });
});

it.each([
  ['speaks no HTTP', 'SSH-2.0-other\r\n'],
  ['says no JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>'],
  ['says other JSON', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'],
  ['points elsewhere', 'HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n'],
  ['refuses without a reason', 'HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n'],
])('an answer of something that %s is told as unreadable', async (_name, answer) => {
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(answer)));
  const { url, close } = await loopback(server);
  const failure = await failureOf(`node clock --url ${url}`);
  await close();
  expect([failure.code, failure.exit]).toEqual(['answer_unreadable', 5]);
});

it('weir node gate ends with 1 where the gate is closed, and tells the decision', async () => {
  await weirHere(['node', 'event', 'edge', '--count', '5'], env);
  const { code, out } = await weirHere(['node', 'gate', 'edge', '--peek', '--json'], env);
  const { decision, count } = JSON.parse(out);
  expect([code, decision, count]).toEqual([1, 'limited', 5]);
});

it('a command that may open too few files says how to raise the limit', async () => {
  const line = `ulimit -n 64; "${process.execPath}" "${program}" simulate scenarios/burst.yaml --out ${temporaryFolder()}`;
  const { code, err } = await run('bash', ['-c', line]);
  expect([code, err]).toEqual([2, expect.stringMatching(/\[unreadable_file\]\n.*\n {2}fix .*ulimit -n 1024/)]);
});

it('a command whose reader has seen enough says nothing about it', async () => {
  const { err } = await run('sh', [
    '-c',
    `WEIR_CONFIG="${env.WEIR_CONFIG}" "${process.execPath}" "${program}" node endpoints --url ${node.url} | true`,
  ]);
  expect(err).toBe('');
});

/** Runs a command in this process: the code of its failure, and its exit code. */
async function failureOf(line: string): Promise<{ readonly code: string | undefined; readonly exit: number | null }> {
  const { code: exit, err } = await weirHere(line.split(' '), env);
  return { code: /^weir: .* \[(\w+)\]$/m.exec(err)?.[1], exit };
}
