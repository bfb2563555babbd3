// Keys of a contract that counts per key: its owner sees limited and matching keys, anyone else one key they know.
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../client/api-client.js';
import type { Endpoints } from '../../client/route-table.js';
import { useAnswer } from './clock.js';
import { InputField } from './form.js';
import { grouped, type ShownContract, some, weir, wordsOf } from './node-client.js';
import { FaultLine, Fold, ScrollingTable } from './parts.js';

type KeyLine = Pick<
  AnswerOf<Endpoints['listContractKeys']>['keys'][number],
  'key' | 'state' | 'count' | 'retry_after_cycles'
>;

const SHOWN = 50;
const REFRESH_MS = 2_000;

export function KeyRows({ contract, isOwn }: { readonly contract: ShownContract; readonly isOwn: boolean }) {
  return <Fold title="Keys">{() => (isOwn ? <KeyList contract={contract} /> : <OneKey contract={contract} />)}</Fold>;
}

function KeyList({ contract: { machine: slug, id: contract_id } }: { readonly contract: ShownContract }) {
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
      <KeyTable keys={keys} of={contract_id} />
    </>
  );
}

function OneKey({ contract: { machine: slug, id: contract_id } }: { readonly contract: ShownContract }) {
  const [keys, setKeys] = useState<readonly KeyLine[]>([]);
  const [fault, setFault] = useState('');
  const look = async (event: SubmitEvent) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget as HTMLFormElement).get('key'));
    try {
      const { contract } = await weir.call('getContract', { params: { slug, contract_id }, query: { key } });
      const { currentState: state, count, retry_after_cycles } = contract;
      setKeys([{ key, state, count, ...(retry_after_cycles === undefined ? {} : { retry_after_cycles }) }]);
      setFault('');
    } catch (error) {
      setFault(wordsOf(error));
    }
  };
  return (
    <>
      <form onSubmit={look}>
        <InputField label="A key that you know" name="key" required maxlength={256} autocomplete="off" />
        <button type="submit">Look it up</button>
      </form>
      <FaultLine words={fault} />
      <KeyTable keys={keys} of={contract_id} />
    </>
  );
}

function KeyTable({ keys, of }: { readonly keys: readonly KeyLine[]; readonly of: string }) {
  if (keys.length === 0) return null;
  return (
    <ScrollingTable
      label={`Keys of ${of}`}
      class="keys"
      columns={[['Key'], ['State'], ['Count', 'n'], ['Admitted again', 'n']]}
      rows={keys.map(({ key, state, count, retry_after_cycles: wait }) => [
        key,
        state,
        grouped(count),
        wait === undefined ? 'never' : wait === 0 ? 'now' : `in ${some(wait, 'cycle')}`,
      ])}
    />
  );
}
