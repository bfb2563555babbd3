import { element } from '../web/page-element.js';

export const shipped = JSON.parse(element('scenarios').textContent) as Readonly<Record<string, string>>;
