// Conditions on the fields of a request: `method=POST`, `status>=500`, `path=/api/*`, `user!=-`.
import { Failure } from '../../../core/schema/failure.js';

const comparisons = ['=', '!=', '>=', '<=', '>', '<'] as const;

export interface Condition {
  readonly field: string;
  readonly comparison: (typeof comparisons)[number];
  /** With = and !=, `*` matches any text. */
  readonly value: string;
}

const CONDITION = /^\s*([^=!<>]+?)\s*(!=|>=|<=|=|>|<)\s*(.*?)\s*$/s;

/** @throws Failure `wrong_usage` */
export function parseWhere(text: string): Condition {
  const [, field, comparison, value = ''] = CONDITION.exec(text) ?? [];
  if (field === undefined) {
    throw new Failure('wrong_usage', {
      what: `--where takes a field, a comparison and a value, and not "${text}".`,
      fix: `For example --where method=POST, --where 'status>=500' or --where 'path=/api/*'.`,
    });
  }
  return { field, comparison: comparisons.find((one) => one === comparison)!, value };
}

/** Numbers compare as numbers; < and > never hold for other text. */
export function conditionTest({ comparison, value }: Condition): (text: string) => boolean {
  const number = Number(value);
  switch (comparison) {
    case '=':
      return equals(value);
    case '!=': {
      const isEqual = equals(value);
      return (text) => !isEqual(text);
    }
    case '>':
      return (text) => text !== '' && Number(text) > number;
    case '>=':
      return (text) => text !== '' && Number(text) >= number;
    case '<':
      return (text) => text !== '' && Number(text) < number;
    case '<=':
      return (text) => text !== '' && Number(text) <= number;
  }
}

function equals(value: string): (text: string) => boolean {
  if (!value.includes('*')) return (text) => text === value;
  const parts = value.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const pattern = new RegExp(`^${parts.join('.*')}$`, 's');
  return (text) => pattern.test(text);
}
