import { type PrometheusMetrics, sumBuckets, sumSamples } from './metrics-text.js'
import type { TopReading } from './reading.js'

/** Numbers of a reading, with rates since the previous one. */
export interface TopFigures {
  /** Percent of one processor used by the daemon itself; its child processes are not measured. */
  cpuPercent: number | undefined
  requestsPerSecond: number | undefined
  /** Responses with a status of 500 and above. */
  errorsPerSecond: number | undefined
  /** Upper bounds of the time to the start of a response in seconds, for 50 and 95 of 100 requests. */
  p50: number | undefined
  p95: number | undefined
  /** Number of waiting queries and writes. */
  waitingQueries: number | undefined
  waitingWrites: number | undefined
  /** Number of log entries that search indexes have not read. */
  indexLag: number | undefined
  stages: readonly { stage: string; jobs: number }[]
  models: readonly TopModel[]
}

export interface TopModel {
  name: string
  kind: string
  calls: number
  failed: number
  callsPerSecond: number | undefined
  /** Whether the daemon suspends calls after failures. */
  isLeftAlone: boolean
}

const DURATION_METRIC = 'ks_http_request_duration_seconds'

export function computeFigures(current: TopReading, previous: TopReading | undefined): TopFigures {
  const { metrics } = current
  const isSameInstance = previous?.status.instance === current.status.instance
  const previousMetrics = isSameInstance ? previous?.metrics : undefined
  const seconds = previous === undefined ? 0 : (current.takenAt - previous.takenAt) / 1000
  const computeRate = (getValue: (metrics: PrometheusMetrics) => number | undefined) => {
    if (metrics === undefined || previousMetrics === undefined || seconds <= 0) return undefined
    return Math.max(0, (getValue(metrics) ?? 0) - (getValue(previousMetrics) ?? 0)) / seconds
  }
  const cpuFraction = computeRate((samples) => sumSamples(samples, 'process_cpu_seconds_total'))
  const readGauge = (name: string, labels?: Record<string, string>) =>
    metrics === undefined ? undefined : sumSamples(metrics, name, labels)
  return {
    cpuPercent: cpuFraction === undefined ? undefined : cpuFraction * 100,
    requestsPerSecond: computeRate((samples) => sumSamples(samples, 'ks_http_requests_total')),
    errorsPerSecond: computeRate(sumServerErrors),
    ...computeLatencies(metrics, previousMetrics),
    waitingQueries: readGauge('ks_waiting', { queue: 'queries' }),
    waitingWrites: readGauge('ks_waiting', { queue: 'writes' }),
    indexLag: readGauge('ks_index_lag_entries', { of: 'all' }),
    stages: (metrics?.get('ks_jobs_open') ?? []).map(({ labels, value }) => ({
      stage: labels.stage ?? '',
      jobs: value,
    })),
    models: listModels(metrics, (labels) =>
      computeRate((samples) => sumSamples(samples, 'ks_model_calls_total', labels)),
    ),
  }
}

function sumServerErrors(metrics: PrometheusMetrics): number {
  const failed = (metrics.get('ks_http_requests_total') ?? []).filter(({ labels }) => Number(labels.status) >= 500)
  return failed.reduce((sum, { value }) => sum + value, 0)
}

/** Upper bounds of latencies between two readings: the histogram has only its bucket bounds. */
function computeLatencies(current: PrometheusMetrics | undefined, previous: PrometheusMetrics | undefined) {
  if (current === undefined || previous === undefined) return { p50: undefined, p95: undefined }
  const previousBuckets = sumBuckets(previous, DURATION_METRIC)
  const buckets = [...sumBuckets(current, DURATION_METRIC)]
    .map(([bound, calls]) => ({ bound, calls: calls - (previousBuckets.get(bound) ?? 0) }))
    .sort((a, b) => a.bound - b.bound)
  const total = buckets.at(-1)?.calls ?? 0
  const findQuantile = (fraction: number) =>
    total <= 0 ? undefined : buckets.find(({ calls }) => calls >= total * fraction)?.bound
  return { p50: findQuantile(0.5), p95: findQuantile(0.95) }
}

function listModels(
  metrics: PrometheusMetrics | undefined,
  computeCallRate: (labels: Record<string, string>) => number | undefined,
): TopModel[] {
  if (metrics === undefined) return []
  const calls = metrics.get('ks_model_calls_total') ?? []
  return calls.map(({ labels, value }) => {
    const { provider = '', model = '', kind = '' } = labels
    const modelLabels = { provider, model, kind }
    return {
      name: `${provider}/${model}`,
      kind,
      calls: value,
      failed: sumSamples(metrics, 'ks_model_failures_total', modelLabels) ?? 0,
      callsPerSecond: computeCallRate(modelLabels),
      isLeftAlone: sumSamples(metrics, 'ks_model_left_alone', modelLabels) === 1,
    }
  })
}
