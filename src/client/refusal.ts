// What a node refuses with, as a failure of the command: the same code, the same words, an exit code for the command line.

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

/** A failure that a node answered with. Its exit code says whether the cause lies with the caller or with the node. */
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

/** The failure that an answer other than the expected one reports. */
export function refusalFrom(
  { status, body }: { readonly status: number; readonly body: unknown },
  url: string,
): Failure {
  const read = readProblem(body);
  if ('fault' in read) {
    return new Failure('answer_unreadable', {
      what: `The answer of ${url} cannot be read.`,
      why: `Status ${status}, and no problem that tells why: ${read.fault}.`,
      fix: 'Check that the address is that of a node; a proxy on the way may have answered in its place.',
    });
  }
  const { code, title, detail, errors = [] } = read.value;
  const faults = errors.map(({ path, message }) => ({ path: readable(path), message: readable(message) }));
  if (Object.hasOwn(catalogue, code)) {
    return new Refusal(code as FailureCode, { ...partsOf(readable(detail)), faults }, status);
  }
  return new Failure('answer_unreadable', {
    what: `The node refused with a code that this version does not know, ${readable(code)}: ${readable(title)}.`,
    why: readable(detail),
    fix: 'Use the version of this program that the node has.',
    faults,
  });
}

/**
 * A detail is what happened, why, and what to do, a sentence each and not all of them there. With three or more the first
 * says what and the last what to do; with fewer nobody can tell which is which, and they stay together.
 */
function partsOf(detail: string): { readonly what: string; readonly why?: string; readonly fix?: string } {
  const sentences = detail.split(/(?<=[.?!]) (?=[A-Z`"])/);
  if (sentences.length < 3) return { what: detail };
  return { what: sentences[0]!, why: sentences.slice(1, -1).join(' '), fix: sentences.at(-1)! };
}

/** Foreign text on one line, without anything that a terminal would obey. */
export function readable(text: string): string {
  return text.replace(/[\p{C}\u2028\u2029]/gu, '\u00b7');
}
