// A step of the build: writes the JSON Schemas of scenarios, outcomes and series into the package.
import { mkdir, writeFile } from 'node:fs/promises';
import { Outcome } from './outcome/outcome-schema.js';
import { Series } from './outcome/series.js';
import { Scenario } from './scenario/scenario-schema.js';

const folder = new URL('./schema/', import.meta.url);
await mkdir(folder, { recursive: true });
for (const [name, schema] of Object.entries({ scenario: Scenario, outcome: Outcome, series: Series })) {
  await writeFile(new URL(`${name}.schema.json`, folder), `${JSON.stringify(schema, undefined, 2)}\n`);
}
