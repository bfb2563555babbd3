import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  checkpointHolds,
  fingerprintOf,
  generateSigner,
  isRawKey,
  newPrivateKeyPem,
  publicKeyFrom,
  rawOf,
  signCheckpoint,
  signerFromPem,
  signSuccession,
  signText,
  successionHolds,
  textHolds,
} from '../../../src/core/record/signing.js';
import { forAll } from '../../draws.js';
import { codeOf } from '../../failures.js';
import { first, second, signerFromSecret } from './sample-record.js';

const hex = (base64: string) => Buffer.from(base64, 'base64').toString('hex');

const flipped = (base64: string, bit: number): string => {
  const bytes = Buffer.from(base64, 'base64');
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  return bytes.toString('base64');
};

const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 });

it.each([
  {
    secret: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    secret: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: 'r',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
])('a signer signs "$message" as RFC 8032, 7.1 prints it', ({ secret, publicKey, message, signature }) => {
  const signer = signerFromSecret(secret);
  const expected = { publicKey, text: signature, bytes: signature };
  const bytes = new TextEncoder().encode(message);
  const [text, signed] = [signer.sign(message), signer.sign(bytes)].map(hex);
  expect({ publicKey: hex(signer.publicKey), text, bytes: signed }).toEqual(expected);
});

it('a signer signs text in UTF-8, and any library can check it by the PEM', () => {
  const signer = generateSigner();
  const signature = Buffer.from(signer.sign('Tor auf — 開門'), 'base64');
  const data = Buffer.from('Tor auf — 開門', 'utf8');
  expect(verify(null, data, createPublicKey(signer.publicKeyPem), signature)).toBe(true);
});

it('a signer is the same again from its PEM, and another one each time it is made', () => {
  const pem = newPrivateKeyPem();
  const [one, again, other] = [signerFromPem(pem), signerFromPem(pem), generateSigner()];
  expect([again.publicKey, again.fingerprint]).toEqual([one.publicKey, one.fingerprint]);
  expect(other.publicKey).not.toBe(one.publicKey);
});

it('a signer bears the fingerprint that `base64 -d | sha256sum` of its public key gives', () => {
  expect(first.fingerprint).toBe('SHA256:If4x36FUomFia/hUBG/SJxt77UtqvkWqWId+9H+XIbk');
});

it('a signer does not show its private key', () => {
  expect(Object.keys(first).sort()).toEqual(['fingerprint', 'publicKey', 'publicKeyPem', 'sign']);
});

it.each([
  ['nothing', ''],
  ['words', 'not a key'],
  ['a public key', first.publicKeyPem],
  ['a key of another kind', rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string],
  ['a PEM cut off', newPrivateKeyPem().slice(0, 60)],
])('a signer is not made from %s', (_, pem) => {
  expect(codeOf(() => signerFromPem(pem))).toBe('invalid_input');
});

it('a public key is read from PEM and from base64, with blanks around it', () => {
  const texts = [first.publicKeyPem, first.publicKey, ` ${first.publicKey}\n`];
  expect(texts.map((text) => rawOf(publicKeyFrom(text)))).toEqual(texts.map(() => first.publicKey));
  expect(fingerprintOf(publicKeyFrom(first.publicKeyPem))).toBe(first.fingerprint);
});

it.each([
  ['nothing', ''],
  ['31 bytes', Buffer.alloc(31).toString('base64')],
  ['33 bytes', Buffer.alloc(33).toString('base64')],
  ['base64 whose spare bits are not zero', first.publicKey.replace('o=', 'p=')],
  ['base64 without its padding', first.publicKey.slice(0, -1)],
  ['a private key', newPrivateKeyPem()],
  ['a key of another kind', rsa.publicKey.export({ format: 'pem', type: 'spki' }) as string],
])('a public key is not read from %s', (_, text) => {
  expect(codeOf(() => publicKeyFrom(text))).toBe('invalid_input');
  expect(isRawKey(text)).toBe(false);
});

const checkpoint = signCheckpoint(first, { machine: 'm', seq: 12, hash: 'ab'.repeat(32), cycle: 2_345_678_901 });

it('a checkpoint carries its head and a signature over its canonical JSON, and nothing else that was handed in', () => {
  const head = { machine: 'm', seq: 12, hash: 'ab'.repeat(32), cycle: 2_345_678_901 };
  const text = `{"cycle":2345678901,"hash":"${head.hash}","machine":"m","seq":12}`;
  const more = { ...head, kind: 'transition' };
  expect(signCheckpoint(first, more)).toEqual({ ...head, signature: first.sign(text) });
});

it('a checkpoint holds by the key that signed it, in every form of the key', () => {
  const key = createPublicKey(createPrivateKey(newPrivateKeyPem()));
  const forms = [first.publicKeyPem, first.publicKey, publicKeyFrom(first.publicKey), second.publicKey, key];
  const held = forms.map((form) => checkpointHolds(checkpoint, form));
  expect(held).toEqual([true, true, true, false, false]);
});

it.each([
  ['machine', { machine: 'n' }],
  ['seq', { seq: 13 }],
  ['hash', { hash: `${'ab'.repeat(31)}ac` }],
  ['cycle', { cycle: 2_345_678_902 }],
])('a checkpoint does not hold with another %s', (_, change) => {
  expect(checkpointHolds({ ...checkpoint, ...change }, first.publicKey)).toBe(false);
});

it('a checkpoint does not hold when any bit of the signature or of the key is another', () => {
  const bits = (count: number) => Array.from({ length: count }, (_, bit) => bit);
  const held = [
    ...bits(512).filter((bit) =>
      checkpointHolds({ ...checkpoint, signature: flipped(checkpoint.signature, bit) }, first.publicKey),
    ),
    ...bits(256).filter((bit) => checkpointHolds(checkpoint, flipped(first.publicKey, bit))),
  ];
  expect(held).toEqual([]);
});

it('a checkpoint does not hold when its signature is written in another way', () => {
  const { signature } = checkpoint;
  const last = signature.at(-3)!;
  const spare = String.fromCharCode(last.charCodeAt(0) + 1);
  const changed = [signature.slice(0, -2), `${signature.slice(0, -3)}${spare}==`];
  for (const other of [...changed, `${signature}\n`, ` ${signature}`, ''])
    expect(checkpointHolds({ ...checkpoint, signature: other }, first.publicKey)).toBe(false);
});

const succession = signSuccession(first, second.publicKey, 100);

it('a succession is the word of the old key for the new one', () => {
  const text = `{"cycle":100,"next":"${second.publicKey}","previous":"${first.publicKey}"}`;
  const keys = { previous: first.publicKey, next: second.publicKey };
  expect(succession).toEqual({ ...keys, cycle: 100, signature: first.sign(text) });
  expect(successionHolds(succession)).toBe(true);
});

it.each([
  ['signed by the new key', { ...signSuccession(second, second.publicKey, 100), previous: first.publicKey }],
  ['of another cycle', { ...succession, cycle: 101 }],
  ['to another key', { ...succession, next: generateSigner().publicKey }],
  ['from something that is no key', { ...succession, previous: 'no key' }],
  ['to something that is no key', signSuccession(first, 'no key', 100)],
])('a succession %s does not hold', (_, other) => {
  expect(successionHolds(other)).toBe(false);
});

it('a succession holds for no text but the signed one', () => {
  forAll([fc.nat(255)], (bit) => {
    expect(successionHolds({ ...succession, next: flipped(succession.next, bit) })).toBe(false);
  });
});

const nonces = fc.string({ maxLength: 80 });

it('the proof of a node holds for the key and the nonce that it was made for, and for no other', () => {
  forAll([nonces, nonces], (nonce, other) => {
    const proof = signText(first, 'node-proof', nonce);
    expect(textHolds(first.publicKey, 'node-proof', nonce, proof)).toBe(true);
    expect(textHolds(second.publicKey, 'node-proof', nonce, proof)).toBe(false);
    expect(textHolds(first.publicKey, 'node-proof', other, proof)).toBe(nonce === other);
  });
});

it('the proof of a node is never a checkpoint or a succession, nor one of those a proof, whatever the nonce is', () => {
  const head = { machine: 'edge', seq: 1, hash: 'a'.repeat(64), cycle: 1 };
  const checkpoint = signCheckpoint(first, head);
  const succession = signSuccession(first, second.publicKey, 1);
  const { signature: _, ...body } = succession;
  const hostile = fc.oneof(
    nonces,
    fc.constantFrom(JSON.stringify(head), JSON.stringify(body), `\n${JSON.stringify(head)}`),
  );
  forAll([hostile], (nonce) => {
    const signature = signText(first, 'node-proof', nonce);
    expect(checkpointHolds({ ...checkpoint, signature }, first.publicKey)).toBe(false);
    expect(successionHolds({ ...succession, signature })).toBe(false);
    expect(textHolds(first.publicKey, 'node-proof', nonce, checkpoint.signature)).toBe(false);
    expect(textHolds(first.publicKey, 'node-proof', nonce, succession.signature)).toBe(false);
  });
});
