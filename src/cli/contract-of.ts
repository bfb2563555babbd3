// Owns which contract is meant where a command names only the machine: its one contract, if it has one.

import type { Api } from '../client/api.js';
import { usageFailure } from './ending.js';

export const contractOption = {
  type: 'string',
  requiresArg: true,
  describe: 'id of the contract; needed where the machine has several',
} as const;

/** @throws Failure `wrong_usage` where the machine has none or several, and what the node refuses with */
export async function contractOf(api: Api, slug: string, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const { contracts } = await api.contracts(slug);
  const [first] = contracts;
  if (first === undefined)
    throw usageFailure(`The machine ${slug} has no contract: \`weir deploy ${slug}\` puts one onto it.`);
  if (contracts.length === 1) return first.id;
  const ids = contracts.map(({ id }) => id);
  const some = ids.slice(0, 5).join(', ');
  throw usageFailure(
    `The machine ${slug} has ${ids.length} contracts; say which one with --contract: ${some}${ids.length > 5 ? ', …' : ''}.`,
  );
}
