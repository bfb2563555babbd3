// Loaded into a node before it starts: its wall clock is ahead by the milliseconds that the file WEIR_TEST_SHIFT says at the moment.
import { readFileSync } from 'node:fs';

const { now } = Date;
const path = process.env.WEIR_TEST_SHIFT;
Date.now = () => now() + Number(readFileSync(path, 'utf8'));
