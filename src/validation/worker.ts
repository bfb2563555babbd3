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
