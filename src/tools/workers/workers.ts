// Runs and loads on the machines of `weir worker`.
import type { LoadsElsewhere } from '../../harness/live/elsewhere.js';
import type { RunsElsewhere } from '../../harness/simulate/replication.js';
import { openGenerators } from './generators.js';
import { openRunQueue } from './run-queue.js';

export const workers: RunsElsewhere & LoadsElsewhere = { openRunQueue, openGenerators };
