import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, it } from 'vitest';
import * as endpoints from '../../src/api/client/endpoints.js';
import { catalogue } from '../../src/core/schema/failure.js';
import { documentOf, errorsOf } from '../../src/node/openapi.js';
import { routes } from '../../src/node/route-list.js';
import { nodeOfFile } from './node-of-file.js';
import { startRunning } from './running.js';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { in: string; name: string; required: boolean }[];
  readonly [field: string]: unknown;
}

const node = await nodeOfFile();
/** The OpenAPI document, as the build makes it. */
const body = JSON.parse(JSON.stringify(await documentOf(routes)));
/** All that it describes: method, path, operation. */
const operations = Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, one]) => [`${method.toUpperCase()} ${path}`, path, one] as const),
);

it('the OpenAPI document is what a node answers with, without /metrics where they are closed', async () => {
  const { '/metrics': _, ...others } = body.paths;
  const closed = await startRunning({ openMetrics: false });
  expect((await node.ask('GET', '/api/openapi.json')).body).toEqual(body);
  expect((await closed.ask('GET', '/api/openapi.json')).body).toEqual({ ...body, paths: others });
});

it('the OpenAPI document has no error for a validator of OpenAPI', async () => {
  expect(body.openapi).toBe('3.1.0');
  expect(await new Validator().validate(body)).toEqual({ valid: true });
});

it('the OpenAPI document says of every operation what it is for and who may call it, in known fields', () => {
  const required = ['operationId', 'summary', 'tags', 'responses', 'security', 'x-tier', 'x-auth', 'x-scope'];
  const known = new Set([...required, 'parameters', 'requestBody']);
  for (const [name, , operation] of operations) {
    const fields = Object.keys(operation);
    expect([name, required.filter((field) => !fields.includes(field))]).toEqual([name, []]);
    expect([name, fields.filter((field) => !known.has(field))]).toEqual([name, []]);
    expect(operation).toMatchObject({
      operationId: expect.stringMatching(/^[a-z][A-Za-z0-9]+$/),
      summary: expect.stringMatching(/./),
      tags: [expect.stringMatching(/./)],
    });
    expect(Object.keys(operation['responses'] as object).length).toBeGreaterThan(0);
  }
});

it('the OpenAPI document says that a record is read in pages or as NDJSON', () => {
  const { content } = body.paths['/api/chain/{slug}/state'].get.responses[200];
  expect(Object.keys(content)).toEqual(['application/json', 'application/x-ndjson']);
});

it('the OpenAPI document has the headers that a route reads', () => {
  const inHeader = operations.flatMap(([name, , { parameters = [] }]) =>
    parameters.filter((one) => one.in === 'header').map((one) => `${name} ${one.name} ${one.required}`),
  );
  expect(inHeader).toEqual([
    'POST /api/chain/{slug}/event Idempotency-Key false',
    'POST /api/chain/{slug}/events Idempotency-Key false',
    'GET /api/chain/{slug}/stream Last-Event-ID false',
  ]);
});

it('the OpenAPI document has every route of the registry, once, and no other', () => {
  const described = operations.map(([name]) => name);
  expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
});

it('the OpenAPI document has every parameter of a path, as required', () => {
  for (const [name, path, { parameters = [] }] of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter).sort();
    const described = parameters.filter((one) => one.in === 'path');
    expect([name, described.map((one) => one.name).sort()]).toEqual([name, named]);
    expect(described.every(({ required }) => required)).toBe(true);
  }
});

it('the OpenAPI document refers to nothing that is not there, and names nothing that it does not use', () => {
  const used = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
  expect([...new Set(used)].sort()).toEqual(Object.keys(body.components.schemas).sort());
});

it('the OpenAPI document has each schema once, by one name, and no object of a body without a name', () => {
  const texts = Object.values(body.components.schemas).map((schema) => JSON.stringify(schema));
  expect(new Set(texts).size).toBe(texts.length);
  const bodies = [...JSON.stringify(body.paths).matchAll(/"schema":\{"type":"object"/g)];
  expect(bodies).toEqual([]);
  for (const name of ['Problem', 'Machine', 'Contract', 'Decision', 'Event', 'Row', 'Head', 'ContractDefinition'])
    expect(body.components.schemas).toHaveProperty(name);
});

it('the OpenAPI document names every operation as the client does, and each by a name of its own', () => {
  const named = operations.map(([name, , { operationId }]) => [operationId, name] as const);
  expect(new Set(named.map(([name]) => name)).size).toBe(routes.length);
  expect(Object.fromEntries(named)).toMatchObject(
    Object.fromEntries(Object.entries(endpoints).map(([name, { method, path }]) => [name, `${method} ${path}`])),
  );
});

it('the OpenAPI document says where the node is', () => {
  expect(new URL(body.servers[0].url, `${node.url}/api/openapi.json`).href).toBe(`${node.url}/`);
});

it('GET /api/endpoints tells the registry as it is', async () => {
  const { body } = await node.ask('GET', '/api/endpoints');
  expect(body).toEqual({
    ok: true,
    count: routes.length,
    endpoints: routes.map(({ method, path, auth, scope = 'none', tier, domain, summary }) => ({
      ...{ method, path, auth, scope, tier, domain, summary },
    })),
  });
});

it('the registry has the required routes word for word', () => {
  const lines = routes.map(({ method, path, auth, tier, domain }) =>
    [`${method} ${path}`, auth, tier, domain].join(' | '),
  );
  const paths = routes.map(({ method, path }) => `${method} ${path}`);
  expect(lines).toEqual(
    expect.arrayContaining([
      'GET /api/chain/active | public | computation (public) | state machines',
      'GET /api/updates/pubkey | public | computation (public) | updates',
      'POST /api/core/shift | key_and_session | computation (public) | compute, wizard surface',
    ]),
  );
  expect(paths).toEqual(
    expect.arrayContaining([
      'GET /api/contracts/templates/rate-limiter',
      'POST /api/contracts/templates/rate-limiter/deploy',
      'POST /api/chain/{slug}/contracts/{contract_id}/transition',
      'POST /api/demo-key/mint',
      'GET /api/endpoints',
    ]),
  );
});

it('the registry names failures that are in the catalogue, each with a status that is an error', () => {
  for (const route of routes) {
    for (const code of errorsOf(route)) expect(catalogue[code].status).toBeGreaterThanOrEqual(400);
  }
});
