// HAProxy's log of HTTP and of TCP. An IPv6 address stands without brackets before its port.
//   10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {1wt.eu} {} "GET /index.html HTTP/1.1"
//   10.0.1.2:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0
import { templateFormat } from './template.js';

export const haproxyHttp = templateFormat(
  'haproxy',
  '$client [$time] $frontend $backend/$server $timers $status $bytes $_"$request"',
  { clientHasPort: true },
);

export const haproxyTcp = templateFormat(
  'haproxy-tcp',
  '$client [$time] $frontend $backend/$server $wait/$timers $bytes',
  {
    clientHasPort: true,
  },
);
