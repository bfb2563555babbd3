// Finds an element of a page by its id, in the browser.

export function element(id: string): HTMLElement;
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind;
export function element(id: string, kind: new () => HTMLElement = HTMLElement): HTMLElement {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new Error(`The page has no ${id}.`);
}
