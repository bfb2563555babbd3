// Reads the limits of a domain from YAML, in the format of Envoy's rate limit service.
import type { Static } from 'typebox';
import { limiterDefinition } from '../../core/limiter/products/limiter-spec.js';
import { sha256Hex } from '../../core/schema/canonical.js';
import { readDocument } from '../../core/schema/document.js';
import { Failure, type Fault } from '../../core/schema/failure.js';
import { exact, flag, whole } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { oneOf, valueFaults } from '../../core/schema/value-faults.js';
import {
  type Branch,
  type DescriptorLevel,
  type DescriptorLimit,
  idOf,
  limitPerUnit,
  named,
  units,
} from './descriptor-limits.js';

const name = Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'A name for people.' }));

const RateLimit = exact({
  name,
  'replaces?': Type.Array(exact({ name: Type.String({ minLength: 1, maxLength: 256 }) }), {
    maxItems: 100,
    description: 'Limits of these names do not count where this one does, in the same request.',
  }),
  'unit?': Type.String({ description: `Length of the window: ${units.join(', ')}.` }),
  'requests_per_unit?': whole(0, 4_294_967_295, 'Requests that a window admits.'),
  'unlimited?': flag('Admits everything.'),
  'limiter?': Type.Unknown({ description: 'Instead of unit and requests_per_unit: any limiter, as in a scenario.' }),
});

const Descriptor = exact({
  key: Type.String({ minLength: 1, maxLength: 256, description: 'Key of the entry.' }),
  'value?': Type.String({
    minLength: 1,
    maxLength: 1_024,
    description: 'Its value; with * at the end, how it begins. Default: any.',
  }),
  'rate_limit?': RateLimit,
  'shadow_mode?': flag('Counts, and admits everything.'),
  'detailed_metric?': flag('Read and ignored: no figure has values as labels.'),
  'descriptors?': Type.Array(Type.Unknown(), { maxItems: 1_000 }),
});

const File = exact({
  domain: Type.String({ minLength: 1, maxLength: 256, description: 'What Envoy sends as the domain.' }),
  'machine?': Type.String({ pattern: '^[a-z0-9-]{1,64}$', description: 'Slug of the machine. Default: the domain.' }),
  'owner?': Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'Owner of the machine, new or not. Default: the node itself.',
  }),
  'is_public?': flag('Whether anyone may look at the machine. Default: false.'),
  'max_keys?': whole(1, 10_000_000, 'Counts of a limit at a time; the others share one.'),
  descriptors: Type.Array(Type.Unknown(), { minItems: 1, maxItems: 1_000 }),
});

export interface DomainLimits extends Omit<Static<typeof File>, 'descriptors'> {
  readonly machine: string;
  readonly limits: readonly DescriptorLimit[];
  readonly root: DescriptorLevel;
}

const MOST_LEVELS = 16;

const MOST_LIMITS = 1_000;

/** @param cycleMs cycle length in ms @throws Failure `invalid_yaml`, `invalid_input` with the line of each fault */
export function readDescriptorLimits(text: string, name: string, cycleMs: number): DomainLimits {
  const document = readDocument(text, name);
  const faults: Fault[] = valueFaults(File, document.value);
  const limits: DescriptorLimit[] = [];
  const root = newLevel();
  if (faults.length === 0) {
    const { domain, descriptors } = document.value as Static<typeof File>;
    const names = new Set<string>();
    readLevel(descriptors, root, { path: domain, place: '/descriptors', depth: 1, cycleMs, names, limits, faults });
  }
  const { descriptors: _, ...file } = document.value as Static<typeof File>;
  const machine = faults.length > 0 ? '' : (file.machine ?? file.domain);
  if (faults.length === 0 && !/^[a-z0-9-]{1,64}$/.test(machine)) {
    faults.push({ path: '/domain', message: 'is no slug of a machine: name one with machine' });
  }
  if (limits.length > MOST_LIMITS)
    faults.push({ path: '/descriptors', message: `has more than ${MOST_LIMITS} limits` });
  if (faults.length === 0) return { ...file, machine, limits, root };
  const located = document.located(faults);
  throw new Failure('invalid_input', {
    what: `The limits in ${name} were refused.`,
    why: `${located[0]!.path}: ${located[0]!.message}.`,
    fix: 'Correct the places named.',
    faults: located,
  });
}

interface Reading {
  readonly path: string;
  readonly place: string;
  readonly depth: number;
  readonly cycleMs: number;
  /** Of contracts: `a.b` and `a_b`, or the key `a_b` and the value b of `a`, would share one. */
  readonly names: Set<string>;
  readonly limits: DescriptorLimit[];
  readonly faults: Fault[];
}

function newLevel(): DescriptorLevel {
  return { exact: new Map(), begins: [], any: new Map() };
}

function readLevel(descriptors: readonly unknown[], level: DescriptorLevel, at: Reading): void {
  for (const [index, given] of descriptors.entries()) {
    const place = `${at.place}/${index}`;
    const faults = valueFaults(Descriptor, given, place);
    at.faults.push(...faults);
    if (faults.length > 0) continue;
    const descriptor = given as Static<typeof Descriptor>;
    const { key, value, descriptors: nested = [] } = descriptor;
    const plain = `${at.path}.${key}${value === undefined ? '' : `_${value}`}`;
    const name = plain.replace(/\W/g, '_');
    const path = at.names.has(name) ? `${plain}.${sha256Hex(JSON.stringify([key, value])).slice(0, 12)}` : plain;
    at.names.add(name);
    const branch = branchAt(level, key, value);
    if (branch === undefined) {
      at.faults.push({ path: place, message: 'stands here twice: the same key with the same value' });
      continue;
    }
    branch.limit = limitOf(descriptor, path, place, at);
    if (nested.length === 0) continue;
    if (at.depth === MOST_LEVELS) at.faults.push({ path: place, message: `is nested more than ${MOST_LEVELS} deep` });
    else readLevel(nested, branch.below, { ...at, path, place: `${place}/descriptors`, depth: at.depth + 1 });
  }
  level.begins.sort((a, b) => b.prefix.length - a.prefix.length);
}

function branchAt({ exact, begins, any }: DescriptorLevel, key: string, value: string | undefined): Branch | undefined {
  const branch: Branch = { limit: undefined, below: newLevel() };
  if (value?.endsWith('*') === true) {
    const prefix = value.slice(0, -1);
    if (begins.some((one) => one.key === key && one.prefix === prefix)) return undefined;
    begins.push({ key, prefix, branch });
    return branch;
  }
  const [branches, id] = value === undefined ? [any, key] : [exact, idOf({ key, value })];
  if (branches.has(id)) return undefined;
  branches.set(id, branch);
  return branch;
}

function limitOf(
  { rate_limit: given, shadow_mode: isShadow = false }: Static<typeof Descriptor>,
  path: string,
  place: string,
  { cycleMs, limits, faults }: Reading,
): DescriptorLimit | undefined {
  if (given === undefined) return undefined;
  const { unlimited = false, unit, requests_per_unit: requests, limiter } = given;
  const fault = (field: string, message: string): undefined => {
    faults.push({ path: `${place}/rate_limit${field}`, message });
  };
  const common = { path, name: given.name, replaces: (given.replaces ?? []).map((one) => one.name), isShadow };
  const add = ({ definition, perUnit }: Pick<DescriptorLimit, 'definition' | 'perUnit'>): DescriptorLimit => {
    const counted = definition && isShadow ? { ...definition, shadow: true } : definition;
    const limit = { ...common, definition: counted, perUnit };
    limits.push(limit);
    return limit;
  };
  if (unlimited) {
    if (unit !== undefined || requests !== undefined || limiter !== undefined)
      return fault('/unlimited', 'cannot be combined with a limit');
    return add({ definition: undefined, perUnit: undefined });
  }
  if (limiter !== undefined) {
    if (unit !== undefined || requests !== undefined)
      return fault('/limiter', 'cannot be combined with unit and requests_per_unit');
    try {
      const definition = limiterDefinition(limiter as string | object, cycleMs, `${place}/rate_limit/limiter`);
      return add({ definition: named(definition, path), perUnit: undefined });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.faults.length === 0) return fault('/limiter', error.why ?? error.what);
      faults.push(...error.faults);
      return undefined;
    }
  }
  const known = units.find((one) => one === unit?.toLowerCase());
  if (known === undefined) return fault('/unit', `must be ${oneOf(units, unit)}`);
  if (requests === undefined) return fault('/requests_per_unit', 'is required');
  return add(limitPerUnit(requests, known, path));
}
