// A step of the build: writes the JSON Schemas of scenarios, outcomes, series and identifications into the package.
import { mkdir, writeFile } from 'node:fs/promises';
import { Identification } from './identify/identification.js';
import { Outcome } from './outcome/outcome-schema.js';
import { Series } from './outcome/series.js';
import { Scenario } from './scenario/scenario-schema.js';

const folder = new URL('./schema/', import.meta.url);
await mkdir(folder, { recursive: true });
for (const [name, schema] of Object.entries({
  scenario: Scenario,
  outcome: Outcome,
  series: Series,
  identification: Identification,
})) {
  await writeFile(new URL(`${name}.schema.json`, folder), `${JSON.stringify(schema, undefined, 2)}\n`);
}
