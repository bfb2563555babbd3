// The keys of a contract that counts each key for itself: to its owner those that are limited now and those found by a text, to anyone one
// key that they know.
import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../client/api-client.js';
import type { Endpoints } from '../../client/route-table.js';
import { useEvery } from './clock.js';
import { figures, type ShownContract, some, weir, wordsOf } from './node-client.js';
import { Scrolling } from './scrolling.js';

type KeyLine = Pick<
  AnswerOf<Endpoints['listContractKeys']>['keys'][number],
  'key' | 'state' | 'count' | 'retry_after_cycles'
>;

const SHOWN = 50;
const REFRESH_MS = 2_000;

export function KeyRows({ contract, isOwn }: { readonly contract: ShownContract; readonly isOwn: boolean }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={(event) => setIsOpen((event.currentTarget as HTMLDetailsElement).open)}>
      <summary>Keys</summary>
      {isOpen ? isOwn ? <KeyList contract={contract} /> : <OneKey contract={contract} /> : null}
    </details>
  );
}

function KeyList({ contract: { machine: slug, id: contract_id } }: { readonly contract: ShownContract }) {
  const [search, setSearch] = useState('');
  const [keys, setKeys] = useState<readonly KeyLine[]>([]);
  const [fault, setFault] = useState('');
  useEvery(
    REFRESH_MS,
    async () => {
      const find = (limited: boolean) => {
        const query = { limit: SHOWN, ...(limited ? { limited } : {}), ...(search === '' ? {} : { search }) };
        return weir.call('listContractKeys', { params: { slug, contract_id }, query });
      };
      try {
        // Those that are limited matter most, then those with the highest counts of a page.
        const found = [...(await find(true)).keys, ...(await find(false)).keys];
        const byKey = new Map(found.map((line) => [line.key, line]));
        setKeys([...byKey.values()].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1)));
        setFault('');
      } catch (error) {
        setFault(wordsOf(error));
      }
    },
    search,
  );
  return (
    <>
      <label>
        Find keys that contain
        <input type="search" maxlength={256} value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </label>
      {fault === '' ? null : <p class="fault">{fault}</p>}
      <KeyTable keys={keys} />
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
        <label>
          A key that you know
          <input name="key" required maxlength={256} autocomplete="off" />
        </label>
        <button type="submit">Look it up</button>
      </form>
      {fault === '' ? null : <p class="fault">{fault}</p>}
      <KeyTable keys={keys} />
    </>
  );
}

function KeyTable({ keys }: { readonly keys: readonly KeyLine[] }) {
  if (keys.length === 0) return null;
  return (
    <Scrolling class="scrolls" label="Keys">
      <table class="keys">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Count
            </th>
            <th scope="col" class="number">
              Admitted again
            </th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ key, state, count, retry_after_cycles: wait }) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              <td>{state}</td>
              <td class="number">{figures(count)}</td>
              <td class="number">{wait === undefined ? 'never' : wait === 0 ? 'now' : `in ${some(wait, 'cycle')}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}
