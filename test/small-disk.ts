// A disk in memory of a few megabytes, which only root may mount, and what fills it up.
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { afterTest, temporaryFolder } from './left-behind.js';

export const canMount = canMountHere();

/** For one test. @returns its folder */
export function mount(megabytes: number): string {
  const disk = temporaryFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', disk], { stdio: 'ignore' });
  // Also where a process still has files open there.
  afterTest(() => spawnSync('umount', ['--lazy', disk]));
  return disk;
}

/** Writes a file until the disk is full. @param left pages of 4 KiB that are given back */
export function fillUp(path: string, left = 0): void {
  const file = fs.openSync(path, 'w');
  try {
    for (;;) fs.writeSync(file, Buffer.alloc(4096));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    fs.ftruncateSync(file, Math.max(0, fs.fstatSync(file).size - left * 4096));
  } finally {
    fs.closeSync(file);
  }
}

function canMountHere(): boolean {
  try {
    mount(1);
    return true;
  } catch {
    return false;
  }
}
