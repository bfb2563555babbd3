import { Validator } from '@seriousme/openapi-schema-validator';
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as endpoints from '../../src/client/endpoints.js';
import { errorsOf } from '../../src/node/openapi.js';
import { routes } from '../../src/node/route-list.js';
import { catalogue } from '../../src/schema/failure.js';
import { type Running, startRunning } from './running.js';

// The frame of OpenAPI 3.1, as far as the document uses it: strict where a mistake would go unnoticed.
const Schema = Type.Object({}, { additionalProperties: true });
const Content = Type.Record(Type.String({ pattern: '^[a-z]+/[a-z0-9.+-]+$' }), Type.Object({ schema: Schema }));
const closed = { additionalProperties: false } as const;
const Operation = Type.Object(
  {
    operationId: Type.String({ pattern: '^[a-z][A-Za-z0-9]+$' }),
    summary: Type.String({ minLength: 1 }),
    tags: Type.Array(Type.String(), { minItems: 1, maxItems: 1 }),
    parameters: Type.Optional(
      Type.Array(
        Type.Object(
          {
            name: Type.String(),
            in: Type.Enum(['path', 'query']),
            required: Type.Boolean(),
            description: Type.Optional(Type.String()),
            schema: Schema,
          },
          closed,
        ),
      ),
    ),
    requestBody: Type.Optional(
      Type.Object(
        { content: Content, required: Type.Optional(Type.Boolean()), description: Type.Optional(Type.String()) },
        closed,
      ),
    ),
    responses: Type.Record(
      Type.String({ pattern: '^[1-5][0-9][0-9]$' }),
      Type.Object({ description: Type.String({ minLength: 1 }), content: Type.Optional(Content) }, closed),
      { minProperties: 1 },
    ),
    security: Type.Array(Type.Record(Type.String(), Type.Array(Type.String(), { maxItems: 0 }))),
    'x-tier': Type.String(),
    'x-auth': Type.String(),
    'x-scope': Type.String(),
  },
  closed,
);
const Document = Type.Object(
  {
    openapi: Type.Literal('3.1.0'),
    info: Type.Object({ title: Type.String(), version: Type.String() }, { additionalProperties: true }),
    servers: Type.Array(Type.Object({ url: Type.String(), description: Type.String() }, closed)),
    components: Type.Object({ schemas: Schema, securitySchemes: Type.Record(Type.String(), Schema) }, closed),
    paths: Type.Record(
      Type.String({ pattern: '^/' }),
      Type.Object(
        {
          get: Type.Optional(Operation),
          post: Type.Optional(Operation),
          patch: Type.Optional(Operation),
          delete: Type.Optional(Operation),
        },
        closed,
      ),
    ),
  },
  closed,
);

let node: Running;
beforeAll(async () => {
  node = await startRunning();
});
afterAll(() => node.close());

describe('the OpenAPI document', () => {
  it('is one of version 3.1', async () => {
    const { body } = await node.ask('GET', '/api/openapi.json');
    expect(Compile(Document).Errors(body)).toEqual([]);
  });

  it('has every route of the registry, once, and no other', async () => {
    const { body } = await node.ask('GET', '/api/openapi.json');
    const described = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('has every parameter of a path, as required', async () => {
    const { body } = await node.ask('GET', '/api/openapi.json');
    for (const [path, methods] of Object.entries<
      Record<string, { parameters?: { in: string; name: string; required: boolean }[] }>
    >(body.paths)) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
      for (const { parameters = [] } of Object.values(methods)) {
        const described = parameters.filter((one) => one.in === 'path');
        expect([described.map(({ name }) => name).sort(), described.every(({ required }) => required)]).toEqual([
          named,
          true,
        ]);
      }
    }
  });

  it('has no error for a validator of OpenAPI', async () => {
    const { body } = await node.ask('GET', '/api/openapi.json');
    expect(await new Validator().validate(body)).toEqual({ valid: true });
  });

  it('refers to nothing that is not there, and names nothing that it does not use', async () => {
    const { body } = await node.ask('GET', '/api/openapi.json');
    const used = [...JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name);
    expect([...new Set(used)].sort()).toEqual(Object.keys(body.components.schemas).sort());
  });

  it('has a schema once: two names never stand for the same, and no object of a body has none', async () => {
    const { body } = await node.ask('GET', '/api/openapi.json');
    const texts = Object.values(body.components.schemas).map((schema) => JSON.stringify(schema));
    expect(new Set(texts).size).toBe(texts.length);
    const bodies = [...JSON.stringify(body.paths).matchAll(/"schema":\{"type":"object"/g)];
    expect(bodies).toEqual([]);
    for (const name of ['Problem', 'Machine', 'Contract', 'Decision', 'Event', 'Row', 'Head', 'ContractDefinition'])
      expect(body.components.schemas).toHaveProperty(name);
  });

  it('names every operation as the client does, and each by a name of its own', async () => {
    const { body } = await node.ask('GET', '/api/openapi.json');
    const named = Object.entries(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(
          ([method, { operationId }]) => [operationId, `${method.toUpperCase()} ${path}`] as const,
        ),
    );
    expect(new Set(named.map(([name]) => name)).size).toBe(routes.length);
    expect(Object.fromEntries(named)).toMatchObject(
      Object.fromEntries(Object.entries(endpoints).map(([name, { method, path }]) => [name, `${method} ${path}`])),
    );
  });

  it('says where the node is', async () => {
    const { body } = await node.ask('GET', '/api/openapi.json');
    expect(new URL(body.servers[0].url, `${node.url}/api/openapi.json`).href).toBe(`${node.url}/`);
  });
});

describe('the registry', () => {
  it('is told as it is', async () => {
    const { body } = await node.ask('GET', '/api/endpoints');
    expect(body).toEqual({
      ok: true,
      count: routes.length,
      endpoints: routes.map(({ method, path, auth, scope = 'none', tier, domain, summary }) => ({
        method,
        path,
        auth,
        scope,
        tier,
        domain,
        summary,
      })),
    });
  });

  it('has the required routes word for word', () => {
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

  it('names failures that are in the catalogue, each with a status that is an error', () => {
    for (const route of routes) {
      for (const code of errorsOf(route)) expect(catalogue[code].status).toBeGreaterThanOrEqual(400);
    }
  });
});
