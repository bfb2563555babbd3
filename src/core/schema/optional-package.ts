// What may be missing, and is loaded on first use: packages that users install beside Weir if they need them, and folders of Weir itself.
import { Failure } from './failure.js';

/** The versions are those of package.json. A program can be built without `folder`. */
export const features = {
  charts: { what: 'Charts cannot be drawn as pictures.', packages: { '@napi-rs/canvas': '~1.0.11' } },
  gateway: { what: 'Files of gateways are not read.', packages: {}, folder: 'src/tools/gateway' },
  workers: {
    what: 'Runs and loads cannot be shared among workers.',
    packages: { bullmq: '6.7.0' },
    folder: 'src/tools/workers',
  },
  network: { what: 'Nodes cannot share a store in Redis.', packages: {}, folder: 'src/node/network' },
  grpc: {
    what: 'The port of gRPC cannot be opened.',
    packages: { '@grpc/grpc-js': '^1.14.7', '@grpc/proto-loader': '^0.8.1' },
    folder: 'src/node/envoy',
  },
} as const;

type Detachable = 'gateway' | 'workers' | 'network' | 'grpc';

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
export function addTool(name: Detachable, load: () => Promise<unknown>): void {
  tools.set(name, load);
}

/** @throws Failure `package_missing` if the program was built without that tool, or a package of it is missing */
export function toolNamed<Tool>(name: Detachable): Promise<Tool> {
  return partOf(name, tools.get(name) as (() => Promise<Tool>) | undefined);
}

/** @param load absent if the program was built without it @throws Failure `package_missing`: then, or for a package of it */
export async function partOf<Part>(feature: Detachable, load: (() => Promise<Part>) | undefined): Promise<Part> {
  if (load === undefined) throw missingPart(feature);
  return needing(feature, load());
}

export function missingPart(feature: Detachable): Failure {
  const { what, folder } = features[feature];
  return new Failure('package_missing', {
    what,
    why: 'This program was built without the part that does it.',
    fix: `Build Weir with ${folder}.`,
  });
}
