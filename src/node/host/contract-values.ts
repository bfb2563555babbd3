// The changeable values of a contract as the record shows them, and the difference between two versions.
import type { ContractDefinition } from '../../core/limiter/definition.js';
import { limiterParameters } from '../../core/limiter/rate-limiter.js';
import type { ChangedField, ValueChange } from '../../core/record/row.js';
import { canonicalJson, sha256Hex } from '../../core/schema/canonical.js';
import type { ContractImage } from '../store/store.js';

type Values = Partial<Record<ChangedField, Exclude<ValueChange['to'], undefined>>>;

const LONGEST_TEXT = 1_000;

export function changesBetween(before: ContractImage, after: ContractImage): ValueChange[] {
  const [was, is] = [valuesOf(before), valuesOf(after)];
  const names = [...new Set([...Object.keys(is), ...Object.keys(was)])] as ChangedField[];
  return names
    .filter((what) => was[what] !== is[what])
    .map((what) => {
      const [from, to] = [was[what], is[what]];
      return { what, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    });
}

function valuesOf({ name, definition, candidate }: ContractImage): Values {
  return {
    ...(name === undefined ? {} : { name }),
    ...limiterOf(definition),
    ...(definition.shadow === true ? { shadow: true } : {}),
    ...(candidate === undefined ? {} : { candidate: textOf(candidateOf(candidate)) }),
  };
}

function limiterOf(definition: ContractDefinition): Values {
  if (definition.rule !== undefined) return { rule: textOf(definition.rule) };
  const parameters = limiterParameters(definition);
  if (parameters === undefined) return { definition: textOf(definition) };
  const { threshold, within, near_limit } = parameters;
  return { threshold, within, ...(near_limit === undefined ? {} : { near_limit }) };
}

export function candidateOf(definition: ContractDefinition): object {
  return definition.rule ?? limiterParameters(definition) ?? definition;
}

function textOf(value: object): string {
  const text = canonicalJson(value);
  return text.length <= LONGEST_TEXT ? text : `sha256:${sha256Hex(text)}`;
}
