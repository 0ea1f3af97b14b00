import { bucketsOf, type Metrics, sumOf } from './metrics-text.js'
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

const DURATIONS = 'ks_http_request_duration_seconds'

export function figuresOf(now: TopReading, before: TopReading | undefined): TopFigures {
  const { metrics } = now
  const isSame = before?.status.instance === now.status.instance
  const earlier = isSame ? before?.metrics : undefined
  const seconds = before === undefined ? 0 : (now.at - before.at) / 1000
  const rate = (of: (page: Metrics) => number | undefined) => {
    if (metrics === undefined || earlier === undefined || seconds <= 0) return undefined
    return Math.max(0, (of(metrics) ?? 0) - (of(earlier) ?? 0)) / seconds
  }
  const processor = rate((page) => sumOf(page, 'process_cpu_seconds_total'))
  const gauge = (name: string, labels?: Record<string, string>) =>
    metrics === undefined ? undefined : sumOf(metrics, name, labels)
  return {
    cpuPercent: processor === undefined ? undefined : processor * 100,
    requestsPerSecond: rate((page) => sumOf(page, 'ks_http_requests_total')),
    errorsPerSecond: rate(failures),
    ...latencies(metrics, earlier),
    waitingQueries: gauge('ks_waiting', { queue: 'queries' }),
    waitingWrites: gauge('ks_waiting', { queue: 'writes' }),
    indexLag: gauge('ks_index_lag_entries', { of: 'all' }),
    stages: (metrics?.get('ks_jobs_open') ?? []).map(({ labels, value }) => ({
      stage: labels.stage ?? '',
      jobs: value,
    })),
    models: modelsOf(metrics, (labels) => rate((page) => sumOf(page, 'ks_model_calls_total', labels))),
  }
}

function failures(page: Metrics): number {
  const failed = (page.get('ks_http_requests_total') ?? []).filter(({ labels }) => Number(labels.status) >= 500)
  return failed.reduce((sum, { value }) => sum + value, 0)
}

/** Upper bounds of latencies between two readings: the histogram has only its bucket bounds. */
function latencies(now: Metrics | undefined, before: Metrics | undefined) {
  if (now === undefined || before === undefined) return { p50: undefined, p95: undefined }
  const earlier = bucketsOf(before, DURATIONS)
  const added = [...bucketsOf(now, DURATIONS)]
    .map(([most, calls]) => ({ most, calls: calls - (earlier.get(most) ?? 0) }))
    .sort((a, b) => a.most - b.most)
  const all = added.at(-1)?.calls ?? 0
  const at = (share: number) => (all <= 0 ? undefined : added.find(({ calls }) => calls >= all * share)?.most)
  return { p50: at(0.5), p95: at(0.95) }
}

function modelsOf(
  metrics: Metrics | undefined,
  rate: (labels: Record<string, string>) => number | undefined,
): TopModel[] {
  if (metrics === undefined) return []
  const calls = metrics.get('ks_model_calls_total') ?? []
  return calls.map(({ labels, value }) => {
    const { provider = '', model = '', kind = '' } = labels
    const own = { provider, model, kind }
    return {
      name: `${provider}/${model}`,
      kind,
      calls: value,
      failed: sumOf(metrics, 'ks_model_failures_total', own) ?? 0,
      callsPerSecond: rate(own),
      isLeftAlone: sumOf(metrics, 'ks_model_left_alone', own) === 1,
    }
  })
}
