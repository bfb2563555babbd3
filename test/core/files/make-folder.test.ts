import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder } from '../../../src/core/files/make-folder.js';
import { temporaryFolder } from '../../left-behind.js';

const base = temporaryFolder();
const codeOf = (path: string) => {
  try {
    return makeFolder(path);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};

it('a folder is made with those above it that are missing, which are named', () => {
  mkdirSync(join(base, 'a'));
  const missing = [join(base, 'a/b'), join(base, 'a/b/c')];
  expect([makeFolder(join(base, 'a/b/c')), makeFolder(join(base, 'a/b/c'))]).toEqual([missing, []]);
  expect(existsSync(join(base, 'a/b/c'))).toBe(true);
});

writeFileSync(join(base, 'file'), '');
symlinkSync(join(base, 'nowhere'), join(base, 'dangling'));
it.each([
  ['a file of that name', join(base, 'file'), 'ENOTDIR'],
  ['a file above it', join(base, 'file/a/b'), 'ENOTDIR'],
  ['a device', '/dev/full', 'ENOTDIR'],
  ['a link to nothing', join(base, 'dangling'), 'EEXIST'],
  // Node's recursive mkdir does not return here.
  ['a file system that answers that the folder does not exist', '/proc/x/y', 'ENOENT'],
  ['a process above it', '/proc/self/fd/x', 'ENOENT'],
])('no folder is made where there is %s', (_, path, code) => {
  expect(codeOf(path)).toBe(code);
});
