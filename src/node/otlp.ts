// Sends the metrics of a node to an OpenTelemetry collector, as OTLP in JSON over HTTP. The variables are those of the specification of
// OpenTelemetry: endpoints, headers and timeouts are read by its exporter, name and attributes by its resource detector.
//
//   prom-client registry ─► MetricProducer ─► reader, every OTEL_METRIC_EXPORT_INTERVAL ms ─► POST …/v1/metrics
//
// Names stay as they are at GET /metrics, so that one dashboard shows both. A collector that is away costs a line in the log.
import type { HrTime } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import type { Logger } from 'pino';
import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import type { WallClock } from '../time/wall.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** What is sent, and what it is said to come from. */
export interface OtlpSource {
  readonly registry: Registry;
  readonly clock: WallClock;
  readonly version: string;
  /** Tells this node from others of the same name. */
  readonly instance: string;
  readonly log: Logger;
}

export interface Otlp {
  /** Sends the last figures, unless nothing was heard of the collector the last time. Never rejects. */
  close(): Promise<void>;
}

const DEFAULT_INTERVAL_MS = 60_000;

/** Shorter than the 10 s of the specification: a closing node waits for it. */
const DEFAULT_TIMEOUT_MS = 3_000;

/** The exporter itself reads its variables from the process. */
export function startOtlp(environment: Environment, { registry, clock, version, instance, log }: OtlpSource): Otlp {
  const hasTimeout = ['OTEL_EXPORTER_OTLP_TIMEOUT', 'OTEL_EXPORTER_OTLP_METRICS_TIMEOUT'].some(
    (name) => environment[name],
  );
  const exporter = new OTLPMetricExporter(hasTimeout ? {} : { timeoutMillis: DEFAULT_TIMEOUT_MS });
  const guarded = new GuardedExporter(exporter, log);
  const asked = Number(environment['OTEL_METRIC_EXPORT_INTERVAL']);
  const intervalMs = Number.isInteger(asked) && asked > 0 ? asked : DEFAULT_INTERVAL_MS;
  const own = { 'service.name': 'weir', 'service.version': version, 'service.instance.id': instance };
  const reader = new PeriodicExportingMetricReader({
    exporter: guarded,
    exportIntervalMillis: intervalMs,
    metricProducers: [producerOf(registry, clock, version)],
  });
  const provider = new MeterProvider({
    resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
    readers: [reader],
  });
  return {
    async close() {
      guarded.isClosing = true;
      await provider.shutdown().catch(() => {});
    },
  };
}

/** Says once that a collector is away, and once that it is back. */
class GuardedExporter implements PushMetricExporter {
  isClosing = false;
  #isAway = false;
  readonly #exporter: OTLPMetricExporter;
  readonly #log: Logger;

  constructor(exporter: OTLPMetricExporter, log: Logger) {
    this.#exporter = exporter;
    this.#log = log;
  }

  export(...[metrics, done]: Parameters<PushMetricExporter['export']>): void {
    if (this.isClosing && this.#isAway) {
      done({ code: SUCCESS });
      return;
    }
    this.#exporter.export(metrics, ({ code, error }) => {
      const isAway = code !== SUCCESS;
      if (isAway && !this.#isAway) {
        this.#log.warn(
          { why: error?.message },
          'metrics cannot be sent to the collector of OTEL_EXPORTER_OTLP_ENDPOINT',
        );
      }
      if (!isAway && this.#isAway) this.#log.info('metrics are sent to the collector again');
      this.#isAway = isAway;
      // Said above: the reader would report it to a global handler.
      done({ code: SUCCESS });
    });
  }

  selectAggregationTemporality(): AggregationTemporality {
    // Prom-client counts since the start, and so is what it counts passed on.
    return AggregationTemporality.CUMULATIVE;
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

/** ExportResultCode.SUCCESS of @opentelemetry/core. */
const SUCCESS = 0;

function producerOf(registry: Registry, clock: WallClock, version: string): MetricProducer {
  const startTime = hrTimeOf(clock.now());
  return {
    async collect() {
      const endTime = hrTimeOf(clock.now());
      const metrics = (await registry.getMetricsAsJSON()) as unknown as MetricObjectWithValues<Value>[];
      return {
        resourceMetrics: {
          resource: resourceFromAttributes({}),
          scopeMetrics: [
            {
              scope: { name: 'weir', version },
              metrics: metrics.map((metric) => dataOf(metric, { startTime, endTime })),
            },
          ],
        },
        errors: [],
      };
    },
  };
}

/** Prom-client names the parts of a histogram here. */
type Value = MetricValue<string> & { readonly metricName?: string };

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>;

/** A metric of prom-client as one of OpenTelemetry. */
function dataOf(metric: MetricObjectWithValues<Value>, times: Times): MetricData {
  const { name, help: description, type, values } = metric;
  const descriptor = { name, description, unit: unitOf(name), valueType: DOUBLE };
  const common = { descriptor, aggregationTemporality: AggregationTemporality.CUMULATIVE };
  const points = () => values.map(({ labels, value }) => ({ ...times, attributes: { ...labels }, value }));
  // By its name in prom-client: its enum of types exists in its declarations alone.
  switch (String(type)) {
    case 'histogram':
      return {
        ...common,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: [{ ...times, attributes: {}, value: histogramOf(values) }],
      };
    case 'counter':
      return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() };
    default:
      return { ...common, dataPointType: DataPointType.GAUGE, dataPoints: points() };
  }
}

/** ValueType.DOUBLE of @opentelemetry/api. */
const DOUBLE = 1;

/** The histograms of a node have no labels: one series each. Counts up to a bound become counts between two. */
function histogramOf(values: readonly Value[]): Histogram {
  const named = (end: string) => values.filter(({ metricName }) => metricName?.endsWith(end));
  const upTo = named('_bucket').map(({ labels, value }) => ({
    bound: Number(labels['le'] === '+Inf' ? Infinity : labels['le']),
    value,
  }));
  const counts = upTo.map(({ value }, index) => value - (upTo[index - 1]?.value ?? 0));
  return {
    buckets: { boundaries: upTo.map(({ bound }) => bound).filter(Number.isFinite), counts },
    sum: named('_sum')[0]?.value ?? 0,
    count: named('_count')[0]?.value ?? 0,
  };
}

/** As UCUM writes it; none for plain numbers. */
function unitOf(name: string): string {
  if (name.endsWith('_seconds')) return 's';
  return name.endsWith('_bytes') ? 'By' : '';
}

function hrTimeOf(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
