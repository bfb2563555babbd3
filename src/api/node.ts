// The endpoints of the node itself: public key, list of endpoints, clock, limits.
import { SuccessionShape } from '../core/record/row.js';
import { exact, flag, shape } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { get } from './endpoint.js';
import { Cycle, OfMachine, ok } from './shapes.js';

export const publicKey = get('/api/updates/pubkey', {
  answers: ok('The key.', {
    algorithm: Type.Literal('Ed25519'),
    public_key: Type.String({ description: 'The 32 bytes of the key, base64.' }),
    public_key_pem: Type.String(),
    fingerprint: Type.String({ description: 'Short form of the key, for people to compare.' }),
    version: Type.String({ description: 'Version of the node.' }),
    successions: Type.Array(SuccessionShape, {
      description: 'Signed successions of earlier keys, oldest first; empty for the first key.',
    }),
  }),
});

export const proveKey = get('/api/updates/proof', {
  shapes: {
    querystring: exact({
      nonce: Type.String({
        pattern: '^[A-Za-z0-9_-]{43}$',
        description: '32 random bytes of the client, base64url; new for every question.',
      }),
    }),
  },
  answers: ok('The signature.', {
    public_key: Type.String({ description: 'The 32 bytes of the key, base64.' }),
    signature: Type.String({
      description:
        'Ed25519 over the text `weir-node-proof/1 ` and the nonce, base64. Nothing else is signed in this form.',
    }),
  }),
});

export const listEndpoints = get('/api/endpoints', {
  answers: ok('The registry.', {
    count: Type.Integer(),
    endpoints: Type.Array(
      shape({
        method: Type.String(),
        path: Type.String(),
        auth: Type.String(),
        scope: Type.String({ description: 'What a credential must allow: read, event, gate or admin; any; none.' }),
        tier: Type.String(),
        domain: Type.String(),
        summary: Type.String(),
      }),
    ),
  }),
});

export const readClock = get('/api/clock', {
  answers: ok('The running cycle, and when the next begins.', {
    cycle: Cycle,
    cycle_ms: Type.Integer({ description: 'Length of a cycle.' }),
    next_cycle_in_ms: Type.Number({ description: 'From the moment of the answer.' }),
  }),
});

export const listNodes = get('/api/nodes', {
  answers: ok('The nodes of the network that this one is part of.', {
    cycle: Cycle,
    nodes: Type.Array(
      shape({
        fingerprint: Type.String({ description: 'Of the key with which it signs.' }),
        'address?': Type.String({ description: 'Where it listens, if only its own machine can reach it.' }),
        version: Type.String(),
        is_this: flag('Whether it is the one that answers.'),
        is_up: flag('Whether it was heard of within the last six seconds.'),
        since_cycle: Type.Integer({
          minimum: 0,
          description: 'When it joined; for a node that is away, when it was last heard of.',
        }),
        clock_offset_ms: Type.Integer({
          description: 'How far the clock of its machine is ahead of that of Redis. Nothing depends on it.',
        }),
      }),
      { description: 'At most 100, those that are up first; empty for a single node.' },
    ),
  }),
});

const used = Type.Optional(Type.Integer({ description: 'What the caller uses of it; absent without a credential.' }));
const per = Type.Enum(['node', 'network'], {
  description:
    '`network`: all nodes together. `node`: each node counts its own, so n nodes give n times as much; also a single node.',
});
const refused = Type.Integer({ description: 'Refusals by this bound, on this node since it started.' });
const Room = (description: string) =>
  shape(description, {
    per,
    most: Type.Integer({ description: 'The bound of one owner, who gets no more than is free on the node.' }),
    used,
    'left?': Type.Integer({ description: 'What the caller may still have; absent without a credential.' }),
    on_node: Type.Integer({ description: 'The bound of all owners together.' }),
    free_on_node: Type.Integer({ description: 'What is still free.' }),
    refused,
  });

const Rate = (description: string) =>
  shape(description, {
    per,
    threshold: Type.Integer(),
    within: Type.Integer({ description: 'Cycles.' }),
    'left?': Type.Integer({ description: 'What the caller may still ask for; absent without a credential.' }),
    on_node: Type.Integer({ description: 'The threshold of all together.' }),
    left_on_node: Type.Integer({ description: 'What all together may still ask for.' }),
    refused,
  });

export const listLimits = get('/api/limits', {
  answers: ok('Every bound of the node, and what the caller uses of those that are counted per owner.', {
    machines: Room('Machines.'),
    deleted_machines: Room('Deleted machines whose records are kept.'),
    contracts: Room('Contracts.'),
    window_cycles: Room("Cycles of contracts' windows."),
    key_cells: Room(
      'Cells of 8 bytes that keys may take, as if every contract had all its keys, each counting in every cycle and with the longest name.',
    ),
    definition_bytes: Room('Bytes of definitions.'),
    rows: Room('Rows of records.'),
    record_kib: Room('KiB of the rows of records; on a node without a data folder at most an eighth of its heap.'),
    answers_kib: Room('KiB of the answers that are kept under idempotency keys.'),
    sockets: Room('Connections over all ports; `most`: per address, except loopback and trusted proxies.'),
    open_body_bytes: Room('Bytes of bodies that have not ended yet.'),
    streams: Room('Readers of event streams.'),
    watched_contracts: Room('Contracts whose counts are streamed.'),
    verifications: Room('Records waiting to be verified.'),
    keys: shape({ per, most: Type.Integer({ description: 'The bound.' }), used }),
    mint: Rate('Free keys that an address may mint.'),
    sessions: Rate('Sessions that an owner, and an address, may open.'),
    new_machines: Rate('Machines that an owner, and an address, may create.'),
    definition_kib: Rate(
      'KiB of definitions that an owner, and an address, may have checked; deploying a template is one.',
    ),
    node: Type.Record(Type.String(), Type.Integer(), {
      description: 'Bounds of each node as a whole, and of single requests: bytes, ms or numbers, as the name says.',
    }),
  }),
});

export const openApi = get('/api/openapi.json', {
  answers: {
    200: {
      description: 'The document.',
      schema: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
    },
  },
});

export const live = get('/healthz', {
  answers: ok('The process is well: a restart would not help.', {
    status: Type.Union([Type.Literal('live'), Type.Literal('disk_full'), Type.Literal('draining')], {
      description:
        '`disk_full`: it decides nothing until the disk has room, and then goes on by itself. `draining`: it ends soon.',
    }),
    cycle: Cycle,
  }),
});

export const ready = get('/readyz', { answers: ok('It takes requests.', { status: Type.Literal('ready') }) });

const prometheus = { 200: { description: 'Prometheus text.', type: 'text/plain' } } as const;

export const metrics = get('/metrics', { answers: prometheus });

export const machineMetrics = get('/api/chain/{slug}/metrics', { shapes: { params: OfMachine }, answers: prometheus });
