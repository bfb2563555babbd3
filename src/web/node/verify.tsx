// Verifies a machine's record in the browser, against the node's key pinned on first use.
import { useState } from 'preact/hooks';
import type { Verification } from '../../core/record/verification.js';
import { grouped, some, weir, wordsOf } from './node-client.js';
import type { VerifyAsked, VerifySaid } from './verify-worker.js';

const PIN = 'weir pinned key';

interface Said {
  readonly words: string;
  readonly is: 'quiet' | 'bad' | 'good';
}

export function Verify({ slug, head }: { readonly slug: string; readonly head: number }) {
  const [said, setSaid] = useState<Said>();
  const [isBusy, setIsBusy] = useState(false);
  const verify = async () => {
    setIsBusy(true);
    setSaid({ words: 'Verifying…', is: 'quiet' });
    try {
      if (crypto.subtle === undefined) throw new Error(withoutCrypto);
      const { key, isNew } = await pinned();
      const found = await inWorker({ url: `${location.origin}/api/chain/${slug}/state?format=ndjson`, key }, (lines) =>
        setSaid({ words: `Verifying… ${grouped(lines)} of ${some(head, 'row')}`, is: 'quiet' }),
      );
      setSaid(wordsFor(found, isNew));
    } catch (error) {
      setSaid({ words: `Not verified: ${wordsOf(error)}`, is: 'bad' });
    }
    setIsBusy(false);
  };
  return (
    <>
      <p id="verified" class={said?.is} role="status">
        {said?.words}
      </p>
      <button type="button" onClick={verify} disabled={isBusy}>
        Verify in this browser
      </button>
    </>
  );
}

const withoutCrypto =
  'this page came by plain HTTP from another machine, and browsers check signatures over HTTPS alone. Export the record, and run `weir verify`.';

async function pinned(): Promise<{ readonly key: string; readonly isNew: boolean }> {
  const known = localStorage.getItem(PIN);
  if (known !== null) return { key: known, isNew: false };
  const { public_key: key } = await weir.call('publicKey');
  localStorage.setItem(PIN, key);
  return { key, isNew: true };
}

function inWorker(asked: VerifyAsked, onLines: (lines: number) => void): Promise<Verification> {
  const worker = new Worker('/verify.js', { type: 'module' });
  const found = new Promise<Verification>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<VerifySaid>) => {
      if ('lines' in data) onLines(data.lines);
      else if ('found' in data) resolve(data.found);
      else reject(new Error(data.fault));
    };
    worker.onerror = ({ message }) => reject(new Error(message));
  });
  worker.postMessage(asked);
  return found.finally(() => worker.terminate());
}

function wordsFor({ valid, rows, proofs, checkpoint, first_broken: broken }: Verification, isNew: boolean): Said {
  if (!valid) {
    const place = broken?.seq === undefined ? '' : ` at row ${grouped(broken.seq)}`;
    return { words: `Does not hold${place}: ${broken?.reason ?? 'nothing is signed'}`, is: 'bad' };
  }
  const key = `${checkpoint?.signed_by}, ${isNew ? 'pinned now, on first use' : 'as pinned'}`;
  const words = `Holds: ${some(rows, 'row')} chained, ${some(proofs, 'result')} computed again, signed by ${key}.`;
  return { words, is: 'good' };
}
