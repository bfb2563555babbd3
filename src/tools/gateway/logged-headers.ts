// Headers that access logs show.
import { fieldText, missing, type RequestField, type RequestText } from './request-condition.js';

const LOGGED: Readonly<Record<string, RequestField>> = {
  'user-agent': 'agent',
  referer: 'referer',
  host: 'host',
  ':authority': 'host',
  ':method': 'method',
  ':path': 'url',
};

export function headerText(name: string): RequestText {
  const field = LOGGED[name.toLowerCase()];
  if (field !== undefined) return fieldText(field);
  return missing(name.toLowerCase() === 'cookie' ? 'a cookie' : `the header ${name.toLowerCase()}`);
}
