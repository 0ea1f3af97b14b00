import { bucketsOf, type Metrics, sumOf } from './metrics-text.js'
import type { TopReading } from './reading.js'

/** What two readings, one after the other, say of the time between them. */

export interface TopFigures {
  /** of one processor, the daemon itself; its children are not measured */
  cpuPercent: number | undefined
  requestsPerSecond: number | undefined
  /** answers with a status from 500 on */
  errorsPerSecond: number | undefined
  /** seconds until an answer began, at most, of half and of 95 of 100 */
  p50: number | undefined
  p95: number | undefined
  /** places that are waited for */
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

/** Of the requests between two pages: bounds that the histogram has, so a latency is "at most". */
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
