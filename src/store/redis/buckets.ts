// The buckets of machines: all keys of a machine have the hash tag of its bucket, so that they lie in one slot of a cluster and one script can
// count, move and enter. 256 buckets spread over the servers of a cluster.
import { sha256Hex } from '../../schema/canonical.js';

const prefixes = Array.from({ length: 256 }, (_, bucket) => `weir:{${bucket}}:`);
const known = new Map<string, string>();
const MOST_KNOWN = 100_000;

/** What the keys of a machine begin with. */
export function prefixOf(slug: string): string {
  let prefix = known.get(slug);
  if (prefix === undefined) {
    prefix = prefixes[Number.parseInt(sha256Hex(slug).slice(0, 2), 16)]!;
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(slug, prefix);
  }
  return prefix;
}

/** What the keys of the directory begin with: machines, credentials, nodes. */
export const DIRECTORY = 'weir:{directory}:';
