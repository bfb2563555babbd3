// What the owner of a machine may do from its page: count events, move a contract, deploy one, create one from a definition. The node checks
// all of it as it checks any other request.
import { useState } from 'preact/hooks';
import { Form, numberOf, textOf } from './form.js';
import { type Contract, figures, some, weir } from './node-client.js';

interface OwnerProps {
  readonly slug: string;
  readonly contracts: readonly Contract[];
  readonly onChanged: () => void;
}

export function OwnerForms(props: OwnerProps) {
  return (
    <section aria-label="What you may do">
      <div class="forms">
        <SendEvent {...props} />
        <Move {...props} />
        <Deploy {...props} />
        <FromDefinition {...props} />
      </div>
    </section>
  );
}

function SendEvent({ slug, contracts }: OwnerProps) {
  const send = async (fields: FormData) => {
    const [type, count] = [textOf(fields, 'type') ?? 'request', numberOf(fields, 'count')];
    const [contract_id, key] = [textOf(fields, 'contract'), textOf(fields, 'key')];
    const event = { type, ...(count && { count }), ...(contract_id && { contract_id }), ...(key && { key }) };
    const answer = await weir.event(slug, event);
    return answer.contracts
      .map(
        ({ id, admitted, limited, state }) =>
          `${id.slice(0, 6)}: ${figures(admitted)} admitted, ${figures(limited)} limited, ${state}`,
      )
      .join('; ');
  };
  return (
    <Form title="Send an event" verb="Send" send={send}>
      <label>
        Kind
        <input name="type" defaultValue="request" required maxlength={64} />
      </label>
      <label>
        How many
        <input name="count" type="number" min={1} max={1_000_000_000} defaultValue={1} required />
      </label>
      <ContractChoice contracts={contracts} all="All that listen to it" />
      <label>
        Key, for a contract with keys
        <input name="key" maxlength={256} autocomplete="off" />
      </label>
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
    const [to = '', hold_cycles, key] = [textOf(fields, 'to'), numberOf(fields, 'hold'), textOf(fields, 'key')];
    const body = { to, hold_cycles, key };
    const moved = await weir.call('driveTransition', { params: { slug, contract_id: id }, body });
    return `${moved.previous_state} → ${moved.new_state}, row ${figures(moved.seq)}`;
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
      <label>
        Hold for (cycles)
        <input name="hold" type="number" min={0} max={100_000} defaultValue={0} />
      </label>
      <label>
        Key, for a contract with keys
        <input name="key" maxlength={256} autocomplete="off" />
      </label>
    </Form>
  );
}

function Deploy({ slug, onChanged }: OwnerProps) {
  const send = async (fields: FormData) => {
    const max_keys = numberOf(fields, 'keys');
    const body = {
      slug,
      threshold: numberOf(fields, 'threshold'),
      within: numberOf(fields, 'within'),
      near_limit: numberOf(fields, 'near'),
      keyed: max_keys === undefined ? undefined : { max_keys },
    };
    const { contract } = await weir.call('deployRateLimiter', { body });
    onChanged();
    return `${contract.name} ${contract.id} was deployed.`;
  };
  return (
    <Form title="Deploy a rate limiter" verb="Deploy" send={send}>
      <label>
        Threshold, requests
        <input name="threshold" type="number" min={1} max={1_000_000_000} defaultValue={100} required />
      </label>
      <label>
        Within, cycles
        <input name="within" type="number" min={1} max={100_000} defaultValue={60} required />
      </label>
      <label>
        Warn from this share of the threshold, 0.01 to 0.99
        <input name="near" type="number" min={0.01} max={0.99} step={0.01} />
      </label>
      <label>
        Count each key separately, up to (keys)
        <input name="keys" type="number" min={1} max={10_000_000} />
      </label>
    </Form>
  );
}

function FromDefinition({ slug, onChanged }: OwnerProps) {
  const send = async (fields: FormData) => {
    const body = JSON.parse(textOf(fields, 'definition') ?? '');
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

interface ChoiceProps {
  readonly contracts: readonly Contract[];
  /** What no choice means; without it, one has to be chosen. */
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
