// Runs and loads on the machines of `weir worker`.
import type { RunsElsewhere } from '../simulate/replication.js';
import { openRunQueue } from '../simulate/run-queue.js';
import type { LoadsElsewhere } from './elsewhere.js';
import { openGenerators } from './generators.js';

export const workers: RunsElsewhere & LoadsElsewhere = { openRunQueue, openGenerators };
