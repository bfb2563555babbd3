// Forms of a machine's owner: count events, move a contract, deploy one, create one from a definition, change numbers and names, set a
// candidate, delete. The node validates all of it.
import { useState } from 'preact/hooks';
import { Form, fieldNumber, fieldText, InputField } from './form.js';
import { grouped, type ShownContract, some, weir } from './node-client.js';

interface OwnerProps {
  readonly slug: string;
  readonly contracts: readonly ShownContract[];
  readonly onChanged: () => void;
}

export function OwnerForms(props: OwnerProps) {
  return (
    <section class="card" aria-label="What you may do">
      <div class="row">
        <SendEvent {...props} />
        <Move {...props} />
        <Deploy {...props} />
        <FromDefinition {...props} />
        <ChangeForm {...props} />
        <CheckForm {...props} />
        <DeleteForm {...props} />
      </div>
    </section>
  );
}

function SendEvent({ slug, contracts }: OwnerProps) {
  const send = async (fields: FormData) => {
    const [type, count] = [fieldText(fields, 'type') ?? 'request', fieldNumber(fields, 'count')];
    const [contract_id, key] = [fieldText(fields, 'contract'), fieldText(fields, 'key')];
    const event = { type, ...(count && { count }), ...(contract_id && { contract_id }), ...(key && { key }) };
    const answer = await weir.event(slug, event);
    return answer.contracts
      .map(
        ({ id, admitted, limited, state }) =>
          `${id.slice(0, 6)}: ${grouped(admitted)} admitted, ${grouped(limited)} limited, ${state}`,
      )
      .join('; ');
  };
  return (
    <Form title="Send an event" verb="Send" send={send}>
      <InputField label="Kind" name="type" defaultValue="request" required maxlength={64} />
      <InputField label="How many" name="count" type="number" min={1} max={1_000_000_000} defaultValue={1} required />
      <ContractChoice contracts={contracts} all="All that listen to it" />
      <InputField label="Key, for a contract with keys" name="key" maxlength={256} autocomplete="off" />
    </Form>
  );
}

function Move({ slug, contracts }: OwnerProps) {
  const [id, setId] = useState(contracts[0]?.id ?? '');
  const [states, setStates] = useState<readonly string[]>([]);
  const choose = async (chosen: string) => {
    setId(chosen);
    if (chosen === '') return;
    const { machine } = await weir.call('showStateMachine', { params: { slug, contract_id: chosen } });
    setStates(Object.keys(machine.states));
  };
  const send = async (fields: FormData) => {
    const [to = '', hold_cycles, key] = [
      fieldText(fields, 'to'),
      fieldNumber(fields, 'hold'),
      fieldText(fields, 'key'),
    ];
    const body = { to, hold_cycles, key };
    const moved = await weir.call('driveTransition', { params: { slug, contract_id: id }, body });
    return `${moved.previous_state} → ${moved.new_state}, row ${grouped(moved.seq)}`;
  };
  if (contracts.length === 0) return null;
  return (
    <Form title="Move a contract" verb="Move" send={send}>
      <ContractChoice contracts={contracts} onChoose={choose} />
      <label>
        To the state
        <input name="to" required maxlength={64} list="states" onFocus={() => choose(id)} autocomplete="off" />
        <datalist id="states">
          {states.map((state) => (
            <option key={state} value={state} />
          ))}
        </datalist>
      </label>
      <InputField label="Hold for (cycles)" name="hold" type="number" min={0} max={100_000} defaultValue={0} />
      <InputField label="Key, for a contract with keys" name="key" maxlength={256} autocomplete="off" />
    </Form>
  );
}

function Deploy({ slug, onChanged }: OwnerProps) {
  const send = async (fields: FormData) => {
    const max_keys = fieldNumber(fields, 'keys');
    const body = {
      slug,
      name: fieldText(fields, 'name'),
      threshold: fieldNumber(fields, 'threshold'),
      within: fieldNumber(fields, 'within'),
      near_limit: fieldNumber(fields, 'near'),
      keyed: max_keys === undefined ? undefined : { max_keys },
    };
    const { contract } = await weir.call('deployRateLimiter', { body });
    onChanged();
    return `${contract.name} ${contract.id} was deployed.`;
  };
  return (
    <Form title="Deploy a rate limiter" verb="Deploy" send={send}>
      <InputField label="Name" name="name" maxlength={64} autocomplete="off" />
      <InputField
        label="Threshold, requests"
        name="threshold"
        type="number"
        min={1}
        max={1_000_000_000}
        defaultValue={100}
        required
      />
      <InputField label="Within, cycles" name="within" type="number" min={1} max={100_000} defaultValue={60} required />
      <InputField
        label="Warn from this share of the threshold, 0.01 to 0.99"
        name="near"
        type="number"
        min={0.01}
        max={0.99}
        step={0.01}
      />
      <InputField label="Count each key separately, up to (keys)" name="keys" type="number" min={1} max={10_000_000} />
    </Form>
  );
}

function FromDefinition({ slug, onChanged }: OwnerProps) {
  const send = async (fields: FormData) => {
    const body = JSON.parse(fieldText(fields, 'definition') ?? '');
    const { contract } = await weir.call('createContract', { params: { slug }, body });
    onChanged();
    return `${contract.name} ${contract.id} was created, ${some(Object.keys(body.states ?? {}).length, 'state')}.`;
  };
  return (
    <Form title="Create a contract from a definition" verb="Create" send={send}>
      <label>
        Definition, JSON
        <textarea name="definition" rows={8} required spellcheck={false} class="code" />
      </label>
    </Form>
  );
}

function ChangeForm({ slug, contracts, onChanged }: OwnerProps) {
  const send = async (fields: FormData) => {
    const body = {
      name: fieldText(fields, 'name'),
      threshold: fieldNumber(fields, 'threshold'),
      within: fieldNumber(fields, 'within'),
    };
    const params = { slug, contract_id: fieldText(fields, 'contract') ?? '' };
    const { changes, forgotten = 'All counts are kept.' } = await weir.call('changeContract', { params, body });
    onChanged();
    if (changes.length === 0) return 'Nothing changed.';
    return `${changes.map(({ what, from, to }) => `${what} ${from ?? '–'} → ${to ?? '–'}`).join(', ')}. ${forgotten}`;
  };
  return (
    <Form title="Change a contract" verb="Change" send={send}>
      <ContractChoice contracts={contracts} />
      <InputField label="Name" name="name" maxlength={64} autocomplete="off" />
      <WindowFields />
    </Form>
  );
}

function WindowFields() {
  return (
    <>
      <InputField label="Threshold, requests" name="threshold" type="number" min={1} max={1_000_000_000} />
      <InputField label="Within, cycles" name="within" type="number" min={1} max={100_000} />
    </>
  );
}

function CheckForm({ slug, contracts, onChanged }: OwnerProps) {
  const send = async (fields: FormData) => {
    const params = { slug, contract_id: fieldText(fields, 'contract') ?? '' };
    const what = fieldText(fields, 'what');
    if (what === 'promote') await weir.call('promoteCandidate', { params });
    else {
      const [threshold, within] = [fieldNumber(fields, 'threshold'), fieldNumber(fields, 'within')];
      const window = { ...(threshold && { threshold }), ...(within && { within }) };
      await weir.call('changeContract', { params, body: { candidate: what === 'remove' ? null : window } });
    }
    onChanged();
    return what === 'promote' ? 'The candidate limits now, and the limit is checked.' : 'Done.';
  };
  return (
    <Form title="Check a candidate" verb="Apply" send={send}>
      <ContractChoice contracts={contracts} />
      <label>
        What to do
        <select name="what">
          <option value="set">Check this window beside the limit</option>
          <option value="promote">Make the candidate the limit</option>
          <option value="remove">Check nothing any more</option>
        </select>
      </label>
      <WindowFields />
    </Form>
  );
}

function DeleteForm({ slug, contracts, onChanged }: OwnerProps) {
  const send = async (fields: FormData) => {
    const contract_id = fieldText(fields, 'contract');
    if (contract_id !== undefined) {
      await weir.call('deleteContract', { params: { slug, contract_id } });
      onChanged();
      return 'The contract is deleted.';
    }
    if (fieldText(fields, 'slug') !== slug) return `Type ${slug} to delete the machine with all its contracts.`;
    const { freed, readable_until } = await weir.call('deleteMachine', { params: { slug } });
    onChanged();
    return `The machine is deleted with ${some(freed.contracts, 'contract')}. Its record can be read until ${readable_until}.`;
  };
  return (
    <Form title="Delete" verb="Delete" send={send}>
      <ContractChoice contracts={contracts} all="The machine with all its contracts" />
      <InputField label="Slug of the machine, to delete it" name="slug" maxlength={64} autocomplete="off" />
    </Form>
  );
}

interface ChoiceProps {
  readonly contracts: readonly ShownContract[];
  readonly all?: string;
  readonly onChoose?: (id: string) => void;
}

function ContractChoice({ contracts, all, onChoose }: ChoiceProps) {
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
