// Amazon S3 server access log.
//   79a59df900b949e55d96 bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e55d96 3E57427F3EXAMPLE REST.GET.OBJECT a.png "GET /bucket/a.png HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" -
import { templateFormat } from './template.js';

export const s3 = templateFormat(
  's3',
  '$owner $bucket [$time] $client $user $request_id $operation $key "$request" $status $error $bytes',
);
