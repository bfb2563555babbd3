// Common elements of node pages: fault, command, field, collapsible section, figure, scrolling table.
import type { ComponentChildren, ComponentProps } from 'preact';
import { useState } from 'preact/hooks';
import { Scrolling } from '../scrolling.js';

export function FaultLine({ words }: { readonly words: string }) {
  return words === '' ? null : <p class="bad">{words}</p>;
}

const USUAL_URL = 'http://127.0.0.1:7770';

/** Pages change nothing: the command that does. */
export function ShownCommand({ words }: { readonly words: string }) {
  const { origin } = location;
  return <code>{`weir node ${words}${origin === USUAL_URL ? '' : ` --url ${origin}`}`}</code>;
}

export function InputField({ label, ...input }: { readonly label: string } & ComponentProps<'input'>) {
  return (
    <label>
      {label}
      <input {...input} />
    </label>
  );
}

interface FoldProps {
  readonly title: string;
  readonly isOpen?: boolean;
  readonly children: () => ComponentChildren;
}

export function Fold({ title, isOpen = false, children }: FoldProps) {
  const [isShown, setIsShown] = useState(isOpen);
  return (
    <details open={isOpen} onToggle={(event) => setIsShown((event.currentTarget as HTMLDetailsElement).open)}>
      <summary>{title}</summary>
      {isShown ? children() : null}
    </details>
  );
}

interface CountProps {
  readonly name: string;
  readonly value: string;
  readonly beside?: string | undefined;
  readonly isBad?: boolean;
}

export function ShownCount({ name, value, beside, isBad = false }: CountProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class={isBad ? 'bad' : ''}>
        {value}
        {beside === undefined ? null : <small>{beside}</small>}
      </dd>
    </div>
  );
}

interface TableProps {
  readonly label: string;
  readonly class?: string;
  /** The first column names the row; `n` is numeric, `wide` is hidden on a narrow screen. */
  readonly columns: readonly (readonly [title: string, looks?: 'n' | 'n wide'])[];
  readonly rows: readonly (readonly [name: string | number, ...cells: (string | undefined | null)[]])[];
}

export function ScrollingTable({ label, columns, rows, ...looks }: TableProps) {
  return (
    <Scrolling class="scroll" label={label}>
      <table {...looks}>
        <thead>
          <tr>
            {columns.map(([title, column = '']) => (
              <th scope="col" class={column} key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {cells.map((cell, index) => (
                <td class={columns[index + 1]![1] ?? ''} key={index}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}
