// The endpoints of keys and sessions: a free key, the keys of an owner, a session for a key.
import { exact, flag, shape, whole } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { get, post, remove } from './endpoint.js';
import { created, ok, pageOf, Slug } from './shapes.js';

const Secret = Type.String({
  pattern: '^weir_[A-Za-z0-9_-]{43}$',
  description: 'Shown only once; the node stores its hash.',
});
const KeyId = Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$', description: 'Id of the key; not secret.' });
const Instant = (description: string) => Type.String({ description: `ISO 8601. ${description}` });

const Scopes = Type.Array(Type.Enum(['read', 'event', 'gate', 'admin']), {
  minItems: 1,
  maxItems: 4,
  uniqueItems: true,
  description:
    'read: what belongs to the owner, records and streams too. event: counts events. gate: asks gates. admin: all of that, and creates machines, contracts and keys, and moves contracts.',
});
const OneMachine = Type.Optional({ ...Slug, description: 'Slug of the only machine that the key opens.' });
const ExpiresInDays = (otherwise: string) => whole(1, 365, `Days until it expires; ${otherwise} when absent.`);

const made = {
  key: Secret,
  key_id: KeyId,
  owner: Type.String({ description: 'Whose machines the key opens.' }),
  scopes: Scopes,
  machine: OneMachine,
  expires_at: Instant('When the key expires.'),
};

export const makeKey = post('/api/keys', {
  shapes: {
    body: exact({ scopes: Scopes, machine: OneMachine, 'expires_in_days?': ExpiresInDays('30') }),
  },
  answers: created('The key. It is not shown again.', made),
});

export const listKeys = get('/api/keys', {
  shapes: {
    querystring: exact(pageOf('Keys', 'Only ids after this one: `next` of the previous page.')),
  },
  answers: ok('A page of keys, by id, without their secrets.', {
    keys: Type.Array(
      shape({
        key_id: KeyId,
        scopes: Scopes,
        machine: OneMachine,
        created_at: Instant(''),
        expires_at: Instant('A rotated key expires at the end of the overlap.'),
        revoked: flag('A revoked key is listed until it would have expired.'),
        is_own: flag('Whether it is the key of this request.'),
      }),
    ),
    'next?': Type.String({ description: '`after` of the next page; absent on the last page.' }),
    'record?': Type.String({
      description:
        'Slug of the private machine whose record has a row for each key that was made, rotated or revoked: who (`by`), what (`action`), when. Read it by GET /api/chain/{slug}/state. Absent before the first.',
    }),
  }),
});

const OfKey = shape({ key_id: KeyId });

export const rotateKey = post('/api/keys/{key_id}/rotate', {
  shapes: {
    params: OfKey,
    body: exact({
      'overlap_seconds?': whole(
        0,
        2_592_000,
        'How long both keys hold; a day when absent. 0: the old one ends at once.',
      ),
      'expires_in_days?': ExpiresInDays('the lifetime of the old key'),
    }),
  },
  answers: created('The new key: same owner, scopes and machine. It is not shown again.', {
    ...made,
    previous: shape({ key_id: KeyId, expires_at: Instant('The end of the overlap.') }),
  }),
});

export const revokeKey = remove('/api/keys/{key_id}', {
  shapes: { params: OfKey },
  answers: { 204: { description: 'The key, its sessions and its streams have ended.' } },
});

export const mintKey = post('/api/demo-key/mint', { answers: created('The key. It is not shown again.', made) });

export const openSession = post('/api/session', {
  answers: created('The cookie is set.', {
    owner: Type.String(),
    expires_at: Type.String({ description: 'ISO 8601; not after the key itself.' }),
  }),
});

export const endSession = remove('/api/session', { answers: { 204: { description: 'The session is over.' } } });
