// Packages that users install beside Weir if they need them: native ones, and those of few commands. Each is loaded on first use.
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
