// Weir's example scenarios by name, embedded in the page.
import { element } from '../../web/page-element.js';

export const shipped = JSON.parse(element('scenarios').textContent) as Readonly<Record<string, string>>;
