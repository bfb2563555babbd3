// What people see of the kinds of clients: a diagram, and a machine for XState's tools.
import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { clientDiagram } from '../../../src/harness/clients/client-diagram.js';
import { chartOf } from '../../../src/harness/clients/client-plan.js';
import { type ClientKind, clientKinds } from '../../../src/harness/clients/client-schema.js';
import { weirHere } from '../../cli/command-line.js';

it('weir node inspect --client draws a client that retries: events that lead to the same are one arrow', async () => {
  const { out } = await weirHere(['node', 'inspect', '--client', 'retrying']);
  expect(out).toMatchInlineSnapshot(`
    "stateDiagram-v2
      state "idle" as s0
      state "asking" as s1
      state "pausing" as s2
      [*] --> s0
      s0 --> s1: job / send
      s1 --> s0: served / succeed
      s1 --> s2: limited, failed, lost, timeout [has attempts left] / back off
      s1 --> s0: limited, failed, lost, timeout / give up
      s2 --> s1: wake / send again
      s2 --> s0: no retry / give up
    "
  `);
});

it('the diagram of a device has its states, events and effects', () => {
  expect(clientDiagram(chartOf('holding'))).toMatchInlineSnapshot(`
    "stateDiagram-v2
      state "passing" as s0
      state "holding" as s1
      state "flushing" as s2
      [*] --> s0
      s0 --> s0: served / succeed
      s0 --> s1: limited / keep limited
      s0 --> s0: failed, lost, timeout / give up
      s0 --> s1: rate limited / hold back
      s0 --> s0: job / send
      s1 --> s1: served / succeed
      s1 --> s1: limited / keep limited
      s1 --> s1: failed, lost, timeout / give up
      s1 --> s1: rate limited / hold back
      s1 --> s1: job / keep
      s1 --> s2: rate restored, wake / begin flush
      s2 --> s2: served / succeed
      s2 --> s1: limited / keep limited
      s2 --> s2: failed, lost, timeout / give up
      s2 --> s1: rate limited / hold back
      s2 --> s2: job / keep
      s2 --> s2: wake / allow batch
      s2 --> s0: always [nothing held] / end flush
      s2 --> s2: always [batch is due] / send batch
    "
  `);
});

it.each(Object.keys(clientKinds) as ClientKind[])('weir node inspect --client prints %s for XState', async (kind) => {
  const { out } = await weirHere(['node', 'inspect', '--client', kind, '--as', 'xstate']);
  const machine = createMachine(JSON.parse(out));
  expect([machine.id, Object.keys(machine.states)]).toEqual([kind, Object.keys(chartOf(kind).config.states)]);
});

it('weir node inspect --client guesses the kind that was meant', async () => {
  const { err, code } = await weirHere(['node', 'inspect', '--client', 'retryng']);
  expect([code, err]).toEqual([2, expect.stringContaining('Did you mean retrying?')]);
});
