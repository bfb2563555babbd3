// A collapsible form that sends a request to the node and shows the answer.
import type { ComponentChildren, ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { wordsOf } from './node-client.js';

interface FormProps {
  readonly title: string;
  readonly verb: string;
  /** The text it returns, or the error it throws, appears below the form. */
  readonly send: (fields: FormData) => Promise<string>;
  readonly children: ComponentChildren;
}

export function Form({ title, verb, send, children }: FormProps) {
  const [result, setResult] = useState<{ readonly words: string; readonly isFault: boolean }>();
  const [isBusy, setIsBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    setIsBusy(true);
    try {
      setResult({ words: await send(new FormData(form)), isFault: false });
    } catch (error) {
      setResult({ words: wordsOf(error), isFault: true });
    }
    setIsBusy(false);
  };
  return (
    <details class="form">
      <summary>{title}</summary>
      <form onSubmit={submit}>
        {children}
        <div class="row">
          <button type="submit" class="first" disabled={isBusy}>
            {verb}
          </button>
        </div>
        <p class={result?.isFault ? 'bad' : 'quiet'} role="status">
          {result?.words}
        </p>
      </form>
    </details>
  );
}

export function InputField({ label, ...input }: { readonly label: string } & ComponentProps<'input'>) {
  return (
    <label>
      {label}
      <input {...input} />
    </label>
  );
}

export function fieldText(fields: FormData, name: string): string | undefined {
  const text = String(fields.get(name) ?? '').trim();
  return text === '' ? undefined : text;
}

export function fieldNumber(fields: FormData, name: string): number | undefined {
  const text = fieldText(fields, name);
  return text === undefined ? undefined : Number(text);
}
