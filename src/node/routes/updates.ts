// Owns GET /api/updates/pubkey: what a client pins on first use.

import { SuccessionShape } from '../../record/shape.js';
import { Type } from '../../schema/json-schema.js';
import { route } from '../route.js';
import { Ok } from '../shapes.js';

export const publicKey = route({
  method: 'GET',
  path: '/api/updates/pubkey',
  auth: 'public',
  tier: 'computation (public)',
  domain: 'updates',
  summary: 'Shows the public key that signs the records of this node, and its version: to be pinned on first use.',
  answers: {
    200: {
      description: 'The key.',
      schema: Type.Object({
        ok: Ok,
        algorithm: Type.Literal('Ed25519'),
        public_key: Type.String({ description: 'The 32 bytes of the key, base64.' }),
        public_key_pem: Type.String(),
        fingerprint: Type.String({ description: 'What people compare.' }),
        version: Type.String({ description: 'Version of the node.' }),
        successions: Type.Array(SuccessionShape, {
          description: 'How the key followed from earlier ones, oldest first; empty when it is the first.',
        }),
      }),
    },
  },
  example: { status: 200 },
  handle({ signer, version, successions }) {
    const { publicKey: public_key, publicKeyPem: public_key_pem, fingerprint } = signer;
    return { ok: true, algorithm: 'Ed25519', public_key, public_key_pem, fingerprint, version, successions };
  },
});
