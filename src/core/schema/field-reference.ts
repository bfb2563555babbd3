// A page of reference for each field of a JSON Schema, generated from its descriptions.
//
//   arrivals            a list of choices: burst, constant, ...
//   arrivals.burst      the fields of one choice, with an example
//   arrivals.burst.at   one field
//
// Items of lists and values of records add nothing to the path: the place in a refusal, /arrivals/0/burst_rate, is a path, too. A choice is
// named by its constant field (`model: burst`), and left out where one alone has the field.
import { stringify } from 'yaml';
import { nearest } from './did-you-mean.js';
import { ANY_NAME, exampleOf } from './example-value.js';
import { Failure } from './failure.js';
import type { Schema } from './json-schema.js';

interface Entry {
  readonly name: string;
  readonly schema: Schema;
  readonly isChoice: boolean;
  readonly isRequired: boolean;
}

const MOST_NAMES = 20;

/**
 * The Markdown page of one field: its meaning, its values, and an example.
 * @param path names separated by dots, or a JSON pointer; '' for all fields at the top
 * @throws Failure `wrong_usage` for a path that the schema does not have
 */
export function fieldPage(root: object, path: string): string {
  const parts: string[] = [];
  const steps: Schema[] = [root as Schema];
  const take = ({ name, schema }: Entry) => {
    parts.push(name);
    steps.push(schema);
  };
  for (const part of namesIn(path)) {
    const entries = entriesIn(steps.at(-1)!);
    const found = entries.find(({ name }) => name === part);
    const [choice, other] = found === undefined ? choicesWith(part, entries) : [];
    const inner = choice && entriesIn(choice.schema).find(({ name }) => name === part);
    if (found !== undefined) take(found);
    else if (inner === undefined || other !== undefined) throw unknownField(root as Schema, parts, part, entries);
    else [choice!, inner].forEach(take);
  }
  const schema = steps.at(-1)!;
  const entries = entriesIn(schema);
  const choices = entries.filter(({ isChoice }) => isChoice);
  const fields = entries.filter((one) => !one.isChoice && !(one.isRequired && one.schema.const !== undefined));
  const example = exampleAt(parts, steps);
  return [
    `# ${parts.join('.') || 'Fields of a scenario'}`,
    [schema.description, valueWords(schema)].filter(Boolean).join(' '),
    ...table('choice', choices),
    ...table('field', fields),
    furtherWords(parts.join('.'), fields),
    ...(example === undefined ? [] : [`\`\`\`yaml\n${stringify(example).trimEnd()}\n\`\`\``]),
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

/** Positions in lists are no names: 0, *, [0]. */
function namesIn(path: string): string[] {
  return path
    .trim()
    .replace(/\[(?:\d+|\*)?\]/g, '')
    .split(/[./]/)
    .filter((part) => !/^(?:\d*|\*)$/.test(part));
}

function choicesWith(field: string, entries: readonly Entry[]): Entry[] {
  return entries.filter(({ isChoice, schema }) => isChoice && entriesIn(schema).some(({ name }) => name === field));
}

export function fieldPaths(root: object): readonly string[] {
  return allBelow(root as Schema).flatMap(({ path, schema }) => (entriesIn(schema).length === 0 ? [] : [path]));
}

/** All entries, parents first. What a control replaces is the same as a field at the top, and is listed there alone. */
function allBelow(root: Schema): { readonly path: string; readonly name: string; readonly schema: Schema }[] {
  const top = new Set(Object.values(root.properties ?? {}).map(({ description }) => description));
  const below = (schema: Schema, path: string): ReturnType<typeof allBelow> =>
    entriesIn(schema).flatMap(({ name, schema: inner }) => {
      if (path !== '' && inner.description !== undefined && top.has(inner.description)) return [];
      const here = path === '' ? name : `${path}.${name}`;
      return [{ path: here, name, schema: inner }, ...below(inner, here)];
    });
  return below(root, '');
}

/** What can follow a path: fields of the object, choices by name, and the fields of unnamed choices. */
function entriesIn(schema: Schema): readonly Entry[] {
  const { examples = [{}], items, anyOf = [], properties = {}, required = [], patternProperties = {} } = schema;
  // A value whose first example is a text is usually written as one, such as a file name.
  if (typeof examples[0] !== 'object') return [];
  if (items !== undefined) return entriesIn(items);
  const values = Object.values(patternProperties);
  if (values.length > 0) return values.flatMap(entriesIn);
  const fields = Object.entries(properties).map(([name, field]) => {
    return { name, schema: field, isChoice: false, isRequired: required.includes(name) };
  });
  const objects = anyOf.filter(({ type }) => type === 'object');
  const inChoices = anyOf.flatMap((one): readonly Entry[] => {
    const constant = objects.length > 1 ? constantOf(one) : undefined;
    if (constant === undefined)
      return entriesIn(one).map((entry) => ({ ...entry, isRequired: entry.isRequired && objects.length < 2 }));
    const { description = '' } = constant.field;
    return [{ name: choiceName(constant), schema: { description, ...one }, isChoice: true, isRequired: false }];
  });
  const seen = new Set<string>();
  return [...fields, ...inChoices].filter(({ name }) => !seen.has(name) && seen.add(name));
}

interface Constant {
  readonly name: string;
  readonly field: Schema;
}

/** The field by which a choice differs from the others. */
function constantOf({ properties = {}, required = [] }: Schema): Constant | undefined {
  const constant = Object.entries(properties).find(
    ([name, one]) => one.const !== undefined || (one.enum !== undefined && required.includes(name)),
  );
  return constant && { name: constant[0], field: constant[1] };
}

/** The constant, or its first name; the name of the field if it allows many. */
function choiceName({ name, field: { const: value, enum: names = [] } }: Constant): string {
  return names.length > MOST_NAMES ? name : String(value ?? names[0]);
}

function table(head: string, entries: readonly Entry[]): string[] {
  if (entries.length === 0) return [];
  const rows = entries.map(({ name, schema, isRequired }) => {
    const about = [isRequired ? 'Required.' : '', schema.description ?? '', valueWords(schema)];
    return `| \`${name}\` | ${about.filter(Boolean).join(' ').replaceAll('|', '\\|')} |`;
  });
  return [`| ${head} | |\n| --- | --- |\n${rows.join('\n')}`];
}

function furtherWords(path: string, fields: readonly Entry[]): string {
  const names = fields.filter(({ schema }) => entriesIn(schema).length > 0).map(({ name }) => name);
  if (names.length === 0) return '';
  const inner = [path, names[0]].filter(Boolean).join('.');
  return `Fields of their own: ${list(names)}. See \`weir help fields ${inner}\`.`;
}

function valueWords({ const: only, enum: values, type, minimum, maximum, minItems, maxItems }: Schema): string {
  if (only !== undefined) return `One of ${list([String(only)])}.`;
  if (values !== undefined)
    return values.length > MOST_NAMES ? `One of ${values.length} names.` : `One of ${list(values)}.`;
  const [least, most, of] = type === 'array' ? [minItems, maxItems, ' entries'] : [minimum, maximum, ''];
  if (least === undefined && most === undefined) return '';
  if (most === undefined) return `At least ${figure(least!)}${of}.`;
  return least === undefined ? `At most ${figure(most)}${of}.` : `${figure(least)} to ${figure(most)}${of}.`;
}

const figure = (value: number) => value.toLocaleString('en');
const list = (values: readonly (string | number)[]) => values.map((value) => `\`${value}\``).join(', ');

/** The smallest valid value at this path, nested in its parents; undefined for the root. */
function exampleAt(parts: readonly string[], steps: readonly Schema[]): unknown {
  let value = exampleOf(steps.at(-1)!);
  for (let at = parts.length - 1; at >= 0; at -= 1) {
    const part = parts[at]!;
    const around = steps[at]!;
    const entry = entriesIn(around).find(({ name }) => name === part)!;
    const holder = entry.isChoice || at === 0 ? {} : (exampleOf(holderOf(around, part)) as object);
    const object = entry.isChoice ? value : { ...holder, [part]: value };
    value = wrapped(around, object);
  }
  return parts.length === 0 ? undefined : value;
}

function holderOf(schema: Schema, field: string): Schema {
  const { items, anyOf, properties, patternProperties } = schema;
  if (items !== undefined) return holderOf(items, field);
  if (properties !== undefined) return properties[field] === undefined ? { type: 'object' } : schema;
  const inner = anyOf ?? Object.values(patternProperties ?? {});
  const found = inner.find((one) => entriesIn(one).some(({ name }) => name === field));
  return found === undefined ? { type: 'object' } : holderOf(found, field);
}

function wrapped({ items, patternProperties, anyOf }: Schema, value: unknown): unknown {
  if (items !== undefined) return [wrapped(items, value)];
  if (patternProperties !== undefined) return { [ANY_NAME]: value };
  const inner = anyOf?.find((one) => entriesIn(one).length > 0);
  return inner?.items === undefined ? value : wrapped(inner, value);
}

function unknownField(root: Schema, above: readonly string[], part: string, entries: readonly Entry[]): Failure {
  const at = above.join('.');
  const choices = choicesWith(part, entries).map(({ name }) => name);
  const names = entries.map(({ name }) => name);
  const guess = choices[0] === undefined ? nearest(part, names) : `${choices[0]}.${part}`;
  const meant = guess === undefined ? pathsLike(root, part) : [[...above, guess].join('.')];
  const has = choices.length === 0 ? `It has ${few(names)}.` : `It is a field of ${few(choices)}.`;
  return new Failure('wrong_usage', {
    what:
      at === ''
        ? `A scenario has no field "${part}".`
        : `${at} has no field "${part}"${choices[0] ? ' of its own' : ''}.`,
    why: names.length === 0 ? `${at} has no fields.` : has,
    fix:
      meant.length === 0
        ? `See \`weir help fields${at === '' ? '' : ` ${at}`}\`.`
        : `Did you mean ${meant.map((path) => `\`weir help fields ${path}\``).join(' or ')}?`,
  });
}

function few(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return more <= 1 ? names.join(', ') : `${names.slice(0, MOST_NAMES).join(', ')} and ${more} more`;
}

const MOST_MEANT = 3;

/** The first paths that end with this name, or with the nearest one that any field has. */
function pathsLike(root: Schema, name: string): string[] {
  const byName = new Map<string, string[]>();
  for (const { path, name: one } of allBelow(root)) byName.set(one, [...(byName.get(one) ?? []), path]);
  const known = byName.get(name) ?? byName.get(nearest(name, [...byName.keys()]) ?? '');
  return (known ?? []).slice(0, MOST_MEANT);
}
