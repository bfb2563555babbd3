// Forms of a machine's owner: count events, move a contract, deploy one, create one from a definition. The node validates all of it.
import { useState } from 'preact/hooks';
import { ChangeForm, CheckForm, DeleteForm } from './change-forms.js';
import { ContractChoice, type OwnerProps } from './contract-choice.js';
import { Form, fieldNumber, fieldText, InputField } from './form.js';
import { grouped, some, weir } from './node-client.js';

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
