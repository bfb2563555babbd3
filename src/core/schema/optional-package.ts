// What may be missing, and is loaded on first use: packages that users install beside Weir if they need them, and tools of Weir itself.
import { Failure } from './failure.js';

/** The versions are those of package.json. */
export const features = {
  charts: { what: 'Charts cannot be drawn as pictures.', packages: { '@napi-rs/canvas': '~1.0.11' } },
  workers: { what: 'Runs and loads cannot be shared among workers.', packages: { bullmq: '6.7.0' } },
  grpc: {
    what: 'The port of gRPC cannot be opened.',
    packages: { '@grpc/grpc-js': '^1.14.7', '@grpc/proto-loader': '^0.8.1' },
  },
  stress: { what: 'The node cannot be saturated.', packages: { autocannon: '^9.0.0' } },
} as const;

const MISSING = /Cannot find package '([^']+)'|(native binding)/;

/** Awaits a module that imports packages of a feature. @throws Failure `package_missing` */
export async function needing<Loaded>(feature: keyof typeof features, loading: Promise<Loaded>): Promise<Loaded> {
  try {
    return await loading;
  } catch (error) {
    const { what, packages } = features[feature];
    const [, name] = MISSING.exec((error as Error).message) ?? [undefined, ''];
    const missing = name ?? Object.keys(packages)[0]!;
    if (!(missing in packages)) throw error;
    const wanted = Object.entries(packages).map(([each, version]) => `"${each}@${version}"`);
    throw new Failure('package_missing', {
      what,
      why: `The package ${missing} is not installed.`,
      fix: `npm install ${wanted.join(' ')}, with -g where Weir was installed so.`,
      cause: error,
    });
  }
}

const tools = new Map<string, () => Promise<unknown>>();

/** Adds a tool to the program: code below asks for it by name. */
export function addTool(name: keyof typeof features, load: () => Promise<unknown>): void {
  tools.set(name, load);
}

/** @throws Failure `package_missing` if the program was built without that tool, or a package of it is missing */
export async function toolNamed<Tool>(name: keyof typeof features): Promise<Tool> {
  const load = tools.get(name);
  if (load === undefined) throw missingTool(name, features[name].what);
  return needing(name, load() as Promise<Tool>);
}

export function missingTool(name: string, what: string): Failure {
  return new Failure('package_missing', {
    what,
    why: 'This program was built without the tool that does it.',
    fix: `Build Weir with src/tools/${name}.`,
  });
}
