// Clients generated from the OpenAPI document ask a real node. The generators come from the registry, into a folder of their own; where that
// does not answer, this is skipped.
//
//   TypeScript   openapi-typescript, from 3.1; it needs TypeScript 5, and what it makes is type-checked
//   Python       openapi-generator, from 3.0; it needs Java, and what it makes needs packages of Debian's Python
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../left-behind.js';
import { type Running, startRunning } from './running.js';

const PYTHON = '/usr/bin/python3';
const hasPython =
  spawnSync('java', ['-version']).status === 0 &&
  spawnSync(PYTHON, ['-c', 'import certifi, dateutil, six, urllib3']).status === 0;
const hasRegistry = spawnSync('npm', ['view', 'openapi-typescript', 'version'], { timeout: 30_000 }).status === 0;

describe.skipIf(!hasRegistry)(hasRegistry ? 'a generated client' : 'no registry of npm: no generated clients', () => {
  let node: Running;
  beforeAll(async () => {
    node = await startRunning({ cycleMs: 50 });
  });
  afterAll(() => node.close());

  /** A folder with packages of the registry and the document in a version. */
  async function prepared(version: string, packages: readonly string[]): Promise<string> {
    const home = temporaryFolder();
    writeFileSync(join(home, 'package.json'), '{ "type": "module", "private": true }');
    const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
    execFileSync('npm', ['install', ...quiet, ...packages], { cwd: home, stdio: 'pipe' });
    const { body } = await node.ask('GET', `/api/openapi.json?version=${version}`);
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

  it('in TypeScript fits its own types, and is answered', async () => {
    const home = await prepared('3.1', ['openapi-typescript@7', 'openapi-fetch@0', 'typescript@5']);
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

  it.skipIf(!hasPython)(hasPython ? 'in Python is answered' : 'no Java, or no Python with its packages', async () => {
    const home = await prepared('3.0', ['@openapitools/openapi-generator-cli@1.0.18-5.0.0-beta2']);
    const jar = join(home, 'node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar');
    execFileSync('java', ['-jar', jar, 'generate', '-i', 'weir.json', '-g', 'python', '-o', 'made'], {
      cwd: home,
      stdio: 'pipe',
    });
    writeFileSync(join(home, 'program.py'), pythonProgram);
    expect(await printed(home, PYTHON, 'program.py', 'python')).toEqual(answers);
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

const pythonProgram = `
import json, sys
sys.path.insert(0, 'made')
import openapi_client as weir

configuration = weir.Configuration(host=sys.argv[1])
configuration.access_token = sys.argv[2]
# By default it waits as long as Retry-After says, and asks again.
configuration.retries = False
slug = 'python'

def problem_of(ask):
    try:
        ask()
    except weir.ApiException as refused:
        return json.loads(refused.body)

with weir.ApiClient(configuration) as client:
    machines, events = weir.StateMachinesApi(client), weir.EventsApi(client)
    machines.create_machine(weir.CreateMachineBody(slug=slug))
    body = weir.DeployRateLimiterBody(slug=slug, threshold=1, within=1000)
    contract = weir.ContractTemplatesApi(client).deploy_rate_limiter(body).contract
    first = events.gate(slug, contract.id)
    second = problem_of(lambda: events.gate(slug, contract.id))
    counted = events.count_one(slug, weir.Event(type='request'))
    print(json.dumps({
        'threshold': contract.threshold,
        'decisions': [first.decision, second['decision']],
        'states': [decision.state for decision in counted.contracts],
        'refused': problem_of(lambda: machines.get_machine('nowhere'))['code'],
    }))
`;
