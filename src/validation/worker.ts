// The worker thread of the self-test: runs one replication of one check.
import { replicate } from './self-test.js';

export default function run({
  check,
  seed,
  replication,
}: {
  check: string;
  seed: number;
  replication: number;
}): readonly number[] {
  return replicate(check, seed, replication);
}
