// AWS Application Load Balancer.
//   https 2018-07-02T22:23:00.186641Z app/lb/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 0.086 0.048 0.037 200 200 0 57 "GET https://example.com:443/ HTTP/1.1" "curl/7.46.0" ...
import { templateFormat } from './template.js';

export const alb = templateFormat(
  'alb',
  '$type $time $elb $client $target $request_time $target_time $response_time $status $target_status $received $sent "$request" "$user_agent"',
);
