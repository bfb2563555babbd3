// A form field that selects a contract.
import type { ShownContract } from './node-client.js';

export interface OwnerProps {
  readonly slug: string;
  readonly contracts: readonly ShownContract[];
  readonly onChanged: () => void;
}

interface ChoiceProps {
  readonly contracts: readonly ShownContract[];
  readonly all?: string;
  readonly onChoose?: (id: string) => void;
}

export function ContractChoice({ contracts, all, onChoose }: ChoiceProps) {
  return (
    <label>
      Contract
      <select name="contract" onChange={(event) => onChoose?.(event.currentTarget.value)}>
        {all === undefined ? null : <option value="">{all}</option>}
        {contracts.map(({ id, name }) => (
          <option key={id} value={id}>
            {name} {id}
          </option>
        ))}
      </select>
    </label>
  );
}
