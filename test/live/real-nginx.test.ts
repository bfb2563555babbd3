import { holdsNginx } from './real-limiters.js';

holdsNginx();
