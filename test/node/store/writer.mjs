// Owns a process that does nothing but use a store, to be locked out or killed: `node writer.mjs hold|write|cut|count DIR [COMMITS]`. It
// runs bundled, since a killed process must be a plain one. Each line it prints is a word or the seq of a row that was settled. `cut` removes old rows meanwhile.
// After COMMITS it writes no more, and waits to be killed.
import { writeSync } from 'node:fs';
import { EMPTY, link } from '../../../src/core/record/chain.js';
import { openSqliteStore } from '../../../src/node/store/sqlite.js';

const HASH = 'ab'.repeat(32);
const AT = '2026-11-20T23:24:00.000Z';
const SIGNATURE = `${'A'.repeat(86)}==`;
const [, , task, dir, commits = 'Infinity'] = process.argv;
const say = (word) => writeSync(1, `${word}\n`);
let store;
try {
  store = openSqliteStore({ dir, defer: setImmediate, lockWaitMs: task === 'hold' ? 500 : 5_000 });
} catch (failure) {
  say(failure.code);
  process.exit(2);
}
say('open');
if (task !== 'hold') begin();
setInterval(() => {}, 1000);

function begin() {
  const [known] = store.machines();
  if (known === undefined) {
    store.putMachine({ slug: 'm', owner: 'o', isPublic: true, displayName: 'm', createdCycle: 1 });
    store.putContract(
      { id: 'c', machine: 'm', definition: {}, templateId: undefined, createdCycle: 1, firstFireCycle: 2 },
      stateAt(0),
    );
  }
  if (task !== 'count') write(known?.head ?? EMPTY, Number(commits));
  else
    store.commit(() => {
      setImmediate(() => {
        // All there is so far is in the database, and the log has counts alone from here on.
        store.close();
        store = openSqliteStore({ dir, defer: setImmediate, lockWaitMs: 5_000 });
        count(Number(commits));
      });
    });
}

/** Counts alone, in one commit each. */
function count(left) {
  if (left === 0) return;
  store.putState(stateAt(left));
  store.commit((failure) => {
    say(failure === undefined ? left : failure.code);
    setImmediate(() => count(left - 1));
  });
}

/** Some rows, then the state that goes with the last of them, in one commit; the next ones do not wait for it. */
function write(head, left) {
  if (left === 0) return;
  for (let n = 0; n < 7; n += 1) {
    head = link(head, entryAfter(head.seq));
    store.append(head);
  }
  store.putState(stateAt(head.seq));
  if (task === 'cut' && head.seq > 20) {
    // Less is freed than is removed: there is always something left to free.
    const [{ seq, hash }] = store.rows('m', { afterSeq: head.seq - 10, limit: 1 });
    store.putCut({ machine: 'm', removed_to_seq: seq, removed_hash: hash, at: AT, cycle: seq, signature: SIGNATURE });
    store.sweep('m', 5);
  }
  const { seq } = head;
  store.commit((failure) => say(failure === undefined ? seq : failure.code));
  setImmediate(() => write(head, left - 1));
}

/** The record of a contract whose transitions are refused, at different lengths. */
function entryAfter(seq) {
  const common = { machine: 'm', cycle: seq, at: AT, cause: 'system', emitted: [] };
  if (seq === 0) return { ...common, kind: 'machine_created' };
  if (seq === 1)
    return { ...common, kind: 'contract_created', contract_id: 'c', to: 'allowing', definition_digest: HASH };
  const failure = { code: 'prove_failed', detail: 'x'.repeat(seq % 1500) };
  const move = { contract_id: 'c', from: 'allowing', to: 'limiting', operator: 'KO42' };
  return { ...common, kind: 'transition_failed', ...move, failure };
}

function stateAt(seq) {
  return {
    id: 'c',
    state: 'allowing',
    heldUntilCycle: 0,
    windows: [{ cycle: seq, counts: seq === 0 ? [] : [0, seq] }],
  };
}
