// Loaded anew for each test file.
import { afterAll } from 'vitest';
import { endFile } from './left-behind.js';

afterAll(endFile);
