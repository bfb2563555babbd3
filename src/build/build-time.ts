// Sources used by the build itself: bundle.js, declarations.js and site.js load this from build/.
import { Identification } from '../identify/identification.js';
import { Outcome } from '../outcome/outcome-schema.js';
import { Series } from '../outcome/series.js';
import { Scenario } from '../scenario/scenario-schema.js';

export { commandsPage } from '../cli/help.js';
export * as endpoints from '../client/endpoints.js';
export { escaped, hashed, htmlDocument, scriptJson } from '../report/page/html.js';
export { fieldPage, fieldPaths } from '../schema/field-reference.js';
export { topics } from '../topics/topics.js';
export { themeStyle } from '../web/chart/palette.js';

/** Published as `@weir/cli/schema/*.schema.json`. */
export const schemas = { scenario: Scenario, outcome: Outcome, series: Series, identification: Identification };
