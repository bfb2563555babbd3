// Owns the line that says on what, and of what, a bench was taken: figures without it are worth nothing.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { VERSION } from '../../src/core/version.js';

export function benchMachine(): string {
  const all = cpus();
  const model = (all[0]?.model ?? 'an unknown processor').replaceAll(/\((R|TM)\)/g, '').replaceAll(/\s+/g, ' ');
  const load = loadavg()[0]!.toFixed(1);
  return `weir ${VERSION} at ${commit()}, Node ${process.versions.node}, ${all.length} x ${model}, load before it ${load}`;
}

function commit(): string {
  try {
    const git = (...words: string[]) =>
      execFileSync('git', words, { stdio: ['ignore', 'pipe', 'ignore'] })
        .toString()
        .trim();
    return `${git('rev-parse', '--short', 'HEAD')}${git('status', '--porcelain', '-uno') === '' ? '' : ', changed'}`;
  } catch {
    return 'no commit';
  }
}
