// Sources used by the build itself: bundle.js, declarations.js and site.js load this from build/.
import {
  BackupAnswer,
  ClientAnswer,
  EvictAnswer,
  LimiterAnswer,
  RecordAnswer,
  ReportAnswer,
  RestoreAnswer,
  ServeAnswer,
  VerifyAnswer,
} from '../cli/answer-schemas.js';
import { Type } from '../core/schema/json-schema.js';
import { StressResult } from '../harness/live/stress.js';
import { ReplayComparison } from '../harness/outcome/compared-rules.js';
import { Series } from '../harness/outcome/series.js';
import { Scenario } from '../harness/scenario/scenario-schema.js';
import { ReportedOutcome } from '../report/read-report.js';
import { DiffAnswer } from '../tools/gateway/diff-answer.js';
import { LimitExplanation } from '../tools/gateway/explain-document.js';
import { ClientAnswer as IdentifiedClient } from '../tools/identify/client/client-answer.js';
import { Identification } from '../tools/identify/identification.js';
import { RecommendAnswer } from '../tools/recommend/advice.js';
import { SweepAnswer } from '../tools/sweep/sweep-answer.js';
import { WorkerAnswer } from '../tools/workers/worker-answer.js';

export * as endpoints from '../api/client/endpoints.js';
export { commandsPage } from '../cli/help.js';
export { topics } from '../cli/topics/topics.js';
export { fieldPage, fieldPaths } from '../core/schema/field-reference.js';
export { documentOf } from '../node/openapi.js';
export { routes } from '../node/route-list.js';
export { themeStyle } from '../report/chart-specs/palette.js';
export { escaped, hashed, htmlDocument, scriptJson } from '../report/page/html.js';

/** Published as `@weir/cli/schema/*.schema.json`. The option --json of a command names one of them. */
export const schemas = {
  scenario: Scenario,
  outcome: ReportedOutcome,
  series: Series,
  replay: Type.Union([ReportedOutcome, ReplayComparison, LimitExplanation], { title: 'weir replay --json' }),
  report: ReportAnswer,
  limiter: LimiterAnswer,
  client: ClientAnswer,
  stress: StressResult,
  verify: VerifyAnswer,
  serve: ServeAnswer,
  backup: BackupAnswer,
  restore: RestoreAnswer,
  evict: EvictAnswer,
  record: RecordAnswer,
  recommend: RecommendAnswer,
  diff: DiffAnswer,
  explanation: LimitExplanation,
  identify: Type.Union([Identification, IdentifiedClient], { title: 'weir identify --json' }),
  sweep: SweepAnswer,
  worker: WorkerAnswer,
};
