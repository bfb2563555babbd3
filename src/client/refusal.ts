// Converts a problem that a node answers with to a Failure: the same code and words, and an exit code for the command line.
import { reader } from '../record/shape.js';
import { catalogue, Failure, type FailureCode } from '../schema/failure.js';
import { Type } from '../schema/json-schema.js';

/** The exit code for a failure of the node. */
const NODE_FAILED = 5;

const readProblem = reader(
  Type.Object({
    title: Type.String(),
    detail: Type.String(),
    code: Type.String(),
    errors: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  }),
);

/** A failure that a node answered with. Its exit code distinguishes errors of the caller from errors of the node. */
class Refusal extends Failure {
  constructor(
    code: FailureCode,
    parts: ConstructorParameters<typeof Failure>[1],
    readonly answeredStatus: number,
  ) {
    super(code, parts);
  }

  override get exit(): number {
    return this.answeredStatus >= 500 ? NODE_FAILED : super.exit;
  }
}

/** The failure for an answer with a status that the endpoint does not declare. */
export function refusalFrom(
  { status, body }: { readonly status: number; readonly body: unknown },
  url: string,
): Failure {
  const read = readProblem(body);
  if ('fault' in read) {
    return unreadableAnswer(url, `It has status ${status} and is not a problem document: ${read.fault}.`);
  }
  const { code, title, detail, errors = [] } = read.value;
  const faults = errors.map(({ path, message }) => ({ path: readable(path), message: readable(message) }));
  if (Object.hasOwn(catalogue, code)) {
    return new Refusal(code as FailureCode, { ...partsOf(readable(detail)), faults }, status);
  }
  return new Failure('answer_unreadable', {
    what: `The node refused with the code ${readable(code)}, which this version does not know: ${readable(title)}.`,
    why: readable(detail),
    fix: 'Use the same version of this program as the node.',
    faults,
  });
}

export function unreadableAnswer(url: string, why: string): Failure {
  return new Failure('answer_unreadable', {
    what: `The answer of ${url} cannot be read.`,
    why,
    fix: 'Check that the address is that of a node; a proxy may have answered in its place.',
  });
}

/**
 * Splits a detail into what happened, why, and what to do. Of three or more sentences the first is the what and the last the fix;
 * fewer are not split, because their roles are not known.
 */
function partsOf(detail: string): { readonly what: string; readonly why?: string; readonly fix?: string } {
  const sentences = detail.split(/(?<=[.?!]) (?=[A-Z`"])/);
  if (sentences.length < 3) return { what: detail };
  return { what: sentences[0]!, why: sentences.slice(1, -1).join(' '), fix: sentences.at(-1)! };
}

/** Foreign text on one line, without control characters. */
export function readable(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, '\u00b7');
}
