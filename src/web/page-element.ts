// Finds an element of a page by its id, and makes cells of tables, in the browser.

export function element(id: string): HTMLElement;
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind;
export function element(id: string, kind: new () => HTMLElement = HTMLElement): HTMLElement {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`The page has no ${id}.`);
}

/** @param title of its column, for narrow screens */
export function cell(text: string, isNumber = false, title = '', below: readonly HTMLElement[] = []): HTMLElement {
  const td = document.createElement('td');
  td.textContent = text;
  if (title !== '') td.dataset['title'] = title;
  if (isNumber) td.className = 'n';
  td.append(...below);
  return td;
}
