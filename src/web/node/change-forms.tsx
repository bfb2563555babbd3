// Forms of a machine's owner: change numbers and names of contracts, set a candidate, delete.
import { ContractChoice, type OwnerProps } from './contract-choice.js';
import { Form, fieldNumber, fieldText, InputField } from './form.js';
import { some, weir } from './node-client.js';

export function ChangeForm({ slug, contracts, onChanged }: OwnerProps) {
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

export function CheckForm({ slug, contracts, onChanged }: OwnerProps) {
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

export function DeleteForm({ slug, contracts, onChanged }: OwnerProps) {
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
