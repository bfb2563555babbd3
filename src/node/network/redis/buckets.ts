// All Redis keys of a machine have the hash tag of its bucket: they share one cluster slot, so that one script can count, move and enter. The
// 256 buckets spread over the servers of a cluster.
import { sha256Hex } from '../../../core/schema/canonical.js';

const prefixes = Array.from({ length: 256 }, (_, bucket) => `weir:{${bucket}}:`);
const known = new Map<string, string>();
const MOST_KNOWN = 100_000;

export function prefixOf(slug: string): string {
  let prefix = known.get(slug);
  if (prefix === undefined) {
    prefix = prefixes[Number.parseInt(sha256Hex(slug).slice(0, 2), 16)]!;
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(slug, prefix);
  }
  return prefix;
}

/** Prefix of machines, credentials and nodes. */
export const DIRECTORY = 'weir:{directory}:';
