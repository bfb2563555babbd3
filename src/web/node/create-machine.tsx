// The form that creates a machine.
import { Form, fieldText, InputField } from './form.js';
import { weir } from './node-client.js';

export function CreateMachine() {
  const send = async (fields: FormData) => {
    const [slug, display_name] = [fieldText(fields, 'slug') ?? '', fieldText(fields, 'name')];
    const body = { slug, display_name, is_public: fields.has('public') };
    const { machine } = await weir.call('createMachine', { body });
    location.assign(`/m/${machine.slug}`);
    return `${machine.slug} was created.`;
  };
  return (
    <Form title="Create a machine" verb="Create" send={send}>
      <InputField
        label="Slug"
        name="slug"
        required
        pattern="[a-z0-9\-]{1,64}"
        title="1 to 64 of a to z, 0 to 9 and -"
        autocomplete="off"
      />
      <InputField label="Name" name="name" maxlength={200} autocomplete="off" />
      <label class="check">
        <input name="public" type="checkbox" /> Anyone may read it
      </label>
    </Form>
  );
}
