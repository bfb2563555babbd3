// AWS Network Load Balancer, TLS.
//   tls 2.0 2018-12-20T02:59:40 net/lb/c6e77e28c25b2234 g3d4b5e8bb8464cd 192.0.2.1:51341 10.0.0.1:443 5 2 98 246 - arn:aws:acm:... - ECDHE-RSA-AES128-SHA tlsv12 - ...
import { templateFormat } from './template.js';

export const nlb = templateFormat(
  'nlb',
  '$type $version $time $elb $listener $client $target $connection_ms $handshake_ms $received $sent',
);
