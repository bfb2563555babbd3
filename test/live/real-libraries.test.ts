import { holdsLibraries } from './real-limiters.js';

holdsLibraries();
