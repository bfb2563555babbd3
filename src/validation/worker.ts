// The worker thread of the self-test: runs one replication of one check.
import { replicateCheck } from './self-test.js';

export default function run({
  check,
  seed,
  replication,
}: {
  check: string;
  seed: number;
  replication: number;
}): readonly number[] {
  return replicateCheck(check, seed, replication);
}
