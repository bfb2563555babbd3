// Sources used by the build itself: bundle.js, declarations.js and site.js load this from build/.
import { Series } from '../harness/outcome/series.js';
import { Scenario } from '../harness/scenario/scenario-schema.js';
import { ReportedOutcome } from '../report/read-report.js';
import { LimitExplanation } from '../tools/gateway/explain-document.js';
import { Identification } from '../tools/identify/identification.js';

export * as endpoints from '../api/client/endpoints.js';
export { commandsPage } from '../cli/help.js';
export { topics } from '../cli/topics/topics.js';
export { fieldPage, fieldPaths } from '../core/schema/field-reference.js';
export { documentOf } from '../node/openapi.js';
export { routes } from '../node/route-list.js';
export { themeStyle } from '../report/chart-specs/palette.js';
export { escaped, hashed, htmlDocument, scriptJson } from '../report/page/html.js';

/** Published as `@weir/cli/schema/*.schema.json`. */
export const schemas = {
  ...{
    scenario: Scenario,
    outcome: ReportedOutcome,
    series: Series,
    identification: Identification,
    explanation: LimitExplanation,
  },
};
