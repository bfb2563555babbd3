// `@weir/cli/expect`: a test of a rate limit that holds wherever its window begins.
//
//   const send = recorded(() => fetch(url));
//   for (let n = 0; n < 121; n += 1) await send();
//
//   expect.extend({ toFollowLimit });                          vitest, jest
//   expect(send.answers).toFollowLimit('60 in 60s');
//   assert.equal(follows(send.answers, '60 in 60s').verdict, 'follows');
import { follows, type SeenAnswer } from './follows.js';

export type { FailureCode } from '../../core/schema/failure.js';
export { follows, type Judgement, type SeenAnswer } from './follows.js';
export { type Recorded, type RecordOptions, recorded } from './recorded.js';

declare global {
  namespace jest {
    // biome-ignore lint/complexity/noBannedTypes: as both declare it
    interface Matchers<R, T = {}> {
      /** @param limit in the words of `--limit`, as `60 in 60s` */
      toFollowLimit(limit: string): R;
    }
  }
}

/** For `expect.extend`. What is not tested or not decided fails, after `.not` as well. @throws Failure as `follows` */
export function toFollowLimit(
  this: { readonly isNot?: boolean } | undefined,
  answers: readonly SeenAnswer[],
  limit: string,
) {
  const { verdict, why, drawing } = follows(answers, limit);
  const isJudged = verdict === 'follows' || verdict === 'differs';
  return {
    pass: isJudged ? verdict === 'follows' : this?.isNot === true,
    message: () => (drawing === '' ? why : `${why}\n\n${drawing}`),
  };
}
