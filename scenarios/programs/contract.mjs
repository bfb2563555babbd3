// A contract is an actor of XState. Weir counts the requests of its window and sends the counts; the guards of the machine decide.
import { contractSetup, rateLimiterMachine } from '@weir/cli';
import { createActor } from 'xstate';

const actor = createActor(contractSetup.createMachine(rateLimiterMachine));
actor.on('*', ({ type, cycle, count }) => console.log(`cycle ${cycle}: ${type} at ${count}`));
actor.start();
const counts = [
  [7, 100],
  [8, 101],
  [60, 120],
  [68, 40],
];
for (const [cycle, count] of counts) actor.send({ type: 'aggregate', cycle, counts: [count] });

// cycle 8: rate_limited at 101
// cycle 68: rate_restored at 40
