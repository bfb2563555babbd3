// AWS Classic Load Balancer.
//   2015-05-13T23:39:43.945958Z my-lb 192.0.2.1:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://example.com:80/ HTTP/1.1" "curl/7.38.0" - -
import { templateFormat } from './template.js';

export const elb = templateFormat(
  'elb',
  '$time $elb $client $backend $request_time $backend_time $response_time $status $backend_status $received $sent "$request"',
);
