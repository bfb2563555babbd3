// `npm run sbom`: the contents and dependencies of the package, as CycloneDX, without packages for build and test only.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const listed = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], { encoding: 'utf8', maxBuffer: 2 ** 28 });
const sbom = JSON.parse(listed);
/** Written by bundle.js from esbuild's inputs. */
const bundled = new Set(
  JSON.parse(readFileSync('build/bundled.json', 'utf8')).map((folder) => {
    const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
    return `${name}@${version}`;
  }),
);

const isTool = ({ properties }) => properties.some(({ name }) => name === 'cdx:npm:package:development');
const isShipped = (one) => bundled.has(one['bom-ref']) || !isTool(one);
sbom.components = sbom.components.filter(isShipped);
const refs = new Set([sbom.metadata.component, ...sbom.components].map((one) => one['bom-ref']));
sbom.dependencies = sbom.dependencies.flatMap(({ ref, dependsOn }) =>
  refs.has(ref) ? [{ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }] : [],
);
process.stdout.write(`${JSON.stringify(sbom, undefined, 2)}\n`);
