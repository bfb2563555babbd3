import { expect, it } from 'vitest';
import { baseUrlFrom } from '../../../src/api/client/base-url.js';
import { configFolderFrom } from '../../../src/api/client/nodes-folder.js';

it.each([
  ['http://127.0.0.1:7770', 'http://127.0.0.1:7770'],
  ['http://127.0.0.1:7770/', 'http://127.0.0.1:7770'],
  ['HTTP://Example.ORG:80/', 'http://example.org'],
  ['https://example.org/weir/', 'https://example.org/weir'],
])('the address %s is read as %s', (given, url) => expect(baseUrlFrom(given)).toBe(url));

it.each([
  [{ WEIR_CONFIG: '/a', XDG_CONFIG_HOME: '/b' }, '/a'],
  [{ WEIR_CONFIG: '', XDG_CONFIG_HOME: '/b' }, '/b/weir'],
  [{ XDG_CONFIG_HOME: 'relative' }, expect.stringMatching(/\/\.config\/weir$/)],
])('the folder of a person follows from %j', (env, folder) => expect(configFolderFrom(env)).toEqual(folder));
