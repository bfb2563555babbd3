// Owns GET /api/updates/pubkey: what a client pins on first use.

import * as api from '../../api/node.js';
import { route } from '../route.js';

export const publicKey = route({
  ...api.publicKey,
  auth: 'public',
  tier: 'computation (public)',
  domain: 'updates',
  summary: 'Shows the public key that signs the records of this node, and its version: to be pinned on first use.',
  example: { status: 200 },
  handle({ signer, version, successions }) {
    const { publicKey: public_key, publicKeyPem: public_key_pem, fingerprint } = signer;
    return { ok: true, algorithm: 'Ed25519', public_key, public_key_pem, fingerprint, version, successions };
  },
});
