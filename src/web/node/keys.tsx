// Keys of a contract that counts per key, for its owner: those that are limited, and those that match.
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../api/client/api-client.js';
import type { Endpoints } from '../../api/client/route-table.js';
import { useAnswer } from './clock.js';
import { cyclesInWords, grouped, type ShownContract, weir } from './node-client.js';
import { FaultLine, InputField, ScrollingTable } from './parts.js';

type KeyLine = AnswerOf<Endpoints['listContractKeys']>['keys'][number];

const SHOWN = 50;
const REFRESH_MS = 2_000;

interface KeyListProps {
  readonly contract: ShownContract;
  readonly cycleMs: number | undefined;
}

export function KeyList({ contract: { machine: slug, id: contract_id }, cycleMs }: KeyListProps) {
  const [search, setSearch] = useState('');
  const find = (limited: boolean) => {
    const query = { limit: SHOWN, ...(limited ? { limited } : {}), ...(search === '' ? {} : { search }) };
    return weir.call('listContractKeys', { params: { slug, contract_id }, query });
  };
  const ask = async (): Promise<readonly KeyLine[]> => {
    const found = [...(await find(true)).keys, ...(await find(false)).keys];
    const byKey = new Map(found.map((line) => [line.key, line]));
    return [...byKey.values()].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
  };
  const [keys = [], fault] = useAnswer(REFRESH_MS, ask, search);
  return (
    <>
      <InputField
        label="Find keys that contain"
        type="search"
        maxlength={256}
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <FaultLine words={fault} />
      {keys.length === 0 ? null : (
        <ScrollingTable
          label={`Keys of ${contract_id}`}
          class="keys"
          columns={[['Key'], ['State'], ['Count', 'n'], ['Admitted again', 'n']]}
          rows={keys.map(({ key, state, count, retry_after_cycles: wait }) => [
            key,
            state,
            grouped(count),
            wait === undefined ? 'never' : wait === 0 ? 'now' : `in ${cyclesInWords(wait, cycleMs)}`,
          ])}
        />
      )}
    </>
  );
}
