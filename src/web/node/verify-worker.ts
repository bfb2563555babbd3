// Verifies a machine's record in a worker, line by line as it arrives: the code of `weir verify` with the browser's cryptography. It
// trusts only what the pinned key signed.
import { pinnedOnly, type Verification } from '../../core/record/verification.js';
import { ExportVerifier, trustIn } from '../../core/record/verify-export.js';
import { answered, Buffer } from './node-in-browser.js';

export interface VerifyAsked {
  readonly url: string;
  readonly key: string;
}

export type VerifySaid = { readonly lines: number } | { readonly found: Verification } | { readonly fault: string };

const LINE_FEED = 10;

addEventListener('message', ({ data }: MessageEvent<VerifyAsked>) => {
  verifyAll(data).then(
    (found) => say({ found }),
    (error: Error) => say({ fault: error.message }),
  );
});

function say(said: VerifySaid): void {
  postMessage(said);
}

async function verifyAll({ url, key }: VerifyAsked): Promise<Verification> {
  const response = await fetch(url, { cache: 'no-store' });
  if (!response.ok || response.body === null) throw new Error(`The node answered ${response.status}.`);
  const options = trustIn(key);
  const verifier = new ExportVerifier(options);
  const reader = response.body.getReader();
  let opening: Uint8Array | undefined;
  let held: Uint8Array = new Uint8Array(0);
  for (let lines = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    held = Buffer.concat([held, value]);
    // The last line, which is signed, must wait.
    const end = held.lastIndexOf(LINE_FEED, held.length - 2) + 1;
    if (end === 0) continue;
    const ready = held.subarray(0, end);
    opening ??= ready.subarray(0, ready.indexOf(LINE_FEED) + 1);
    held = held.subarray(end);
    if (!verifier.bytes(ready)) break;
    for (const byte of ready) if (byte === LINE_FEED) lines += 1;
    say({ lines });
  }
  // Each pass over the signed lines reaches the next unresolved signature.
  do {
    const signed = new ExportVerifier(options);
    if (opening !== undefined && Buffer.from(opening).toString().includes('"cut"')) signed.bytes(opening);
    signed.bytes(held);
  } while (await answered());
  verifier.bytes(held);
  return pinnedOnly(verifier.end());
}
