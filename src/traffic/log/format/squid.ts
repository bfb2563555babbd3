// Squid's own format.
//   1286536309.450    180 192.0.2.24 TCP_MISS/200 411 GET http://www.example.com/ - DIRECT/192.0.2.1 text/html
import { templateFormat } from './template.js';

export const squid = templateFormat(
  'squid',
  '$time $elapsed_ms $client $result/$status $bytes $method $url $user $peer',
);
