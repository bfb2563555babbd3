// The part of Envoy's API, version 3, and of gRPC's health check that a node uses: names, numbers and types are theirs.
import { fromJSON } from '@grpc/proto-loader';

const field = (id: number, type: string) => ({ id, type });
const repeated = (id: number, type: string) => ({ id, type, rule: 'repeated' });

const rateLimit = {
  Unit: { values: { UNKNOWN: 0, SECOND: 1, MINUTE: 2, HOUR: 3, DAY: 4, MONTH: 5, YEAR: 6, WEEK: 7 } },
  Code: { values: { UNKNOWN_CODE: 0, OK: 1, OVER_LIMIT: 2 } },
  RateLimitRequest: {
    fields: {
      domain: field(1, 'string'),
      descriptors: repeated(2, 'Descriptor'),
      // For descriptors without hits of their own; 0 means 1.
      hits_addend: field(3, 'uint32'),
    },
  },
  Descriptor: {
    fields: {
      entries: repeated(1, 'Entry'),
      limit: field(2, 'Override'),
      hits_addend: field(3, 'Count'),
      is_negative_hits: field(4, 'bool'),
    },
  },
  Entry: { fields: { key: field(1, 'string'), value: field(2, 'string') } },
  Override: { fields: { requests_per_unit: field(1, 'uint32'), unit: field(2, 'Unit') } },
  Count: { fields: { value: field(1, 'uint64') } },
  RateLimitResponse: {
    fields: {
      overall_code: field(1, 'Code'),
      statuses: repeated(2, 'Status'),
      response_headers_to_add: repeated(3, 'Header'),
    },
  },
  Status: {
    fields: {
      code: field(1, 'Code'),
      current_limit: field(2, 'RateLimit'),
      limit_remaining: field(3, 'uint32'),
      duration_until_reset: field(4, 'Duration'),
    },
  },
  RateLimit: { fields: { requests_per_unit: field(1, 'uint32'), unit: field(2, 'Unit'), name: field(3, 'string') } },
  Duration: { fields: { seconds: field(1, 'int64'), nanos: field(2, 'int32') } },
  Header: { fields: { key: field(1, 'string'), value: field(2, 'string') } },
  RateLimitService: {
    methods: { ShouldRateLimit: { requestType: 'RateLimitRequest', responseType: 'RateLimitResponse' } },
  },
};

const health = {
  ServingStatus: { values: { UNKNOWN: 0, SERVING: 1, NOT_SERVING: 2 } },
  HealthCheckRequest: { fields: { service: field(1, 'string') } },
  HealthCheckResponse: { fields: { status: field(1, 'ServingStatus') } },
  Health: { methods: { Check: { requestType: 'HealthCheckRequest', responseType: 'HealthCheckResponse' } } },
};

const within = (path: string, nested: object): object =>
  path.split('.').reduceRight((inner, name) => ({ nested: { [name]: inner } }), { nested });

export const services = {
  ...load(within('envoy.service.ratelimit.v3', rateLimit)),
  ...load(within('grpc.health.v1', health)),
};

function load(json: object): ReturnType<typeof fromJSON> {
  return fromJSON(json, { keepCase: true, longs: Number, enums: String, defaults: true });
}
