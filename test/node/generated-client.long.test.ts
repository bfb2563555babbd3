// A client generated from the OpenAPI document calls a real node. The generator, openapi-typescript, and TypeScript 5 come from the registry
// into a folder of their own; where the registry does not answer, this is skipped.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../left-behind.js';
import { type Running, startRunning } from './running.js';

const hasRegistry = spawnSync('npm', ['view', 'openapi-typescript', 'version'], { timeout: 30_000 }).status === 0;

describe.skipIf(!hasRegistry)(hasRegistry ? 'a generated client' : 'no registry of npm: no generated clients', () => {
  let node: Running;
  beforeAll(async () => {
    node = await startRunning({ cycleMs: 50 });
  });

  /** A folder with packages of the registry and the document. */
  async function prepared(packages: readonly string[]): Promise<string> {
    const home = temporaryFolder();
    writeFileSync(join(home, 'package.json'), '{ "type": "module", "private": true }');
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
    execFileSync('npm', ['install', ...quiet, ...packages], { cwd: home, stdio: 'pipe' });
    const { body } = await node.ask('GET', '/api/openapi.json');
    writeFileSync(join(home, 'weir.json'), JSON.stringify(body));
    return home;
  }

  /** What a program that asks the node prints. Not in the same turn: the node is in this process. */
  async function printed(home: string, program: string, file: string, owner: string): Promise<unknown> {
    const running = spawn(program, [file, node.url, node.keyOf(owner)], { cwd: home });
    const written = running.stdout.toArray();
    const problems = running.stderr.toArray();
    const [status] = await once(running, 'close');
    expect([status, String(Buffer.concat(await problems))]).toEqual([0, '']);
    return JSON.parse(String(Buffer.concat(await written)));
  }

  it('a generated client in TypeScript fits its own types, and is answered', async () => {
    const home = await prepared(['openapi-typescript@7', 'openapi-fetch@0', 'typescript@5']);
    writeFileSync(join(home, 'program.ts'), program);
    const run = (name: string, ...args: string[]) =>
      spawnSync(process.execPath, [join(home, 'node_modules', name), ...args], { cwd: home, encoding: 'utf8' });
    const made = run('openapi-typescript/bin/cli.js', 'weir.json', '-o', 'weir.d.ts');
    expect([made.status, made.stderr]).toEqual([0, '']);
    const options = ['--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
    const checked = run('typescript/bin/tsc', ...options, 'program.ts');
    expect(checked.stdout).toBe('');
    expect(await printed(home, process.execPath, 'program.js', 'typescript')).toEqual(answers);
  });
});

const answers = {
  threshold: 1,
  decisions: ['admitted', 'limited'],
  states: ['limiting'],
  refused: 'machine_not_found',
};

const program = `
import createClient from 'openapi-fetch';
import type { components, paths } from './weir.js';

const [, , baseUrl = '', key = ''] = (globalThis as unknown as { process: { argv: string[] } }).process.argv;
const weir = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
const slug = 'typescript';
await weir.POST('/api/chain/state-machines', { body: { slug } });
const { data } = await weir.POST('/api/contracts/templates/rate-limiter/deploy', { body: { slug, threshold: 1, within: 1000 } });
const contract: components['schemas']['Contract'] = data!.contract;
const path = { slug, contract_id: contract.id };
const first = await weir.POST('/api/chain/{slug}/contracts/{contract_id}/gate', { params: { path } });
const second = await weir.POST('/api/chain/{slug}/contracts/{contract_id}/gate', { params: { path } });
const limited = second.error as components['schemas']['GateLimited'];
const event: components['schemas']['Event'] = { type: 'request' };
const counted = await weir.POST('/api/chain/{slug}/event', { params: { path: { slug } }, body: event });
const decisions: components['schemas']['Decision'][] = counted.data!.contracts;
const refused = await weir.GET('/api/chain/state-machines/{slug}', { params: { path: { slug: 'nowhere' } } });
const problem: components['schemas']['Problem'] = refused.error!;
console.log(JSON.stringify({
  threshold: contract.threshold,
  decisions: [first.data!.decision, limited.decision],
  states: decisions.map(({ state }) => state),
  refused: problem.code,
}));
`;
