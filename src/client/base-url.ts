// Owns where a node is: the base address as a person gives it, brought into one form, since keys are pinned by it.
import { usageFailure } from '../cli/ending.js';

export const DEFAULT_URL = 'http://127.0.0.1:7770';

/**
 * @param given for example `http://127.0.0.1:7770`, or `https://example.org/weir` for a node behind a path
 * @returns the same without a slash at its end
 * @throws Failure `wrong_usage`
 */
export function baseUrlFrom(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw usageFailure(`--url takes the address of a node, for example ${DEFAULT_URL}, and not "${given}".`);
  }
  if (url.username !== '' || url.password !== '') {
    throw usageFailure('--url takes no name and password: give the key with --key.');
  }
  if (url.search !== '' || url.hash !== '') throw usageFailure('--url takes an address without ? and #.');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}
