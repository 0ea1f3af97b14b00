import { type PrometheusMetrics, sumBuckets, sumSamples } from './metrics-text.js'
import type { TopReading } from './reading.js'

/** Computes rates from two successive readings. */

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
  isLeftAlone: boolean
}

const DURATION_METRIC = 'ks_http_request_duration_seconds'

export function computeFigures(current: TopReading, previous: TopReading | undefined): TopFigures {
  const { metrics } = current
  const isSameInstance = previous?.status.instance === current.status.instance
  const earlier = isSameInstance ? previous?.metrics : undefined
  const seconds = previous === undefined ? 0 : (current.at - previous.at) / 1000
  const rate = (getValue: (page: PrometheusMetrics) => number | undefined) => {
    if (metrics === undefined || earlier === undefined || seconds <= 0) return undefined
    return Math.max(0, (getValue(metrics) ?? 0) - (getValue(earlier) ?? 0)) / seconds
  }
  const processor = rate((page) => sumSamples(page, 'process_cpu_seconds_total'))
  const readGauge = (name: string, labels?: Record<string, string>) =>
    metrics === undefined ? undefined : sumSamples(metrics, name, labels)
  return {
    cpuPercent: processor === undefined ? undefined : processor * 100,
    requestsPerSecond: rate((page) => sumSamples(page, 'ks_http_requests_total')),
    errorsPerSecond: rate(sumServerErrors),
    ...computeLatencies(metrics, earlier),
    waitingQueries: readGauge('ks_waiting', { queue: 'queries' }),
    waitingWrites: readGauge('ks_waiting', { queue: 'writes' }),
    indexLag: readGauge('ks_index_lag_entries', { of: 'all' }),
    stages: (metrics?.get('ks_jobs_open') ?? []).map(({ labels, value }) => ({
      stage: labels.stage ?? '',
      jobs: value,
    })),
    models: listModels(metrics, (labels) => rate((page) => sumSamples(page, 'ks_model_calls_total', labels))),
  }
}

function sumServerErrors(page: PrometheusMetrics): number {
  const failed = (page.get('ks_http_requests_total') ?? []).filter(({ labels }) => Number(labels.status) >= 500)
  return failed.reduce((sum, { value }) => sum + value, 0)
}

/** Upper bounds of latencies between two readings: the histogram has only its bucket bounds. */
function computeLatencies(current: PrometheusMetrics | undefined, previous: PrometheusMetrics | undefined) {
  if (current === undefined || previous === undefined) return { p50: undefined, p95: undefined }
  const earlier = sumBuckets(previous, DURATION_METRIC)
  const added = [...sumBuckets(current, DURATION_METRIC)]
    .map(([bound, calls]) => ({ most: bound, calls: calls - (earlier.get(bound) ?? 0) }))
    .sort((a, b) => a.most - b.most)
  const total = added.at(-1)?.calls ?? 0
  const findQuantile = (fraction: number) =>
    total <= 0 ? undefined : added.find(({ calls }) => calls >= total * fraction)?.most
  return { p50: findQuantile(0.5), p95: findQuantile(0.95) }
}

function listModels(
  metrics: PrometheusMetrics | undefined,
  rate: (labels: Record<string, string>) => number | undefined,
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
      callsPerSecond: rate(modelLabels),
      isLeftAlone: sumSamples(metrics, 'ks_model_left_alone', modelLabels) === 1,
    }
  })
}
