import type { DaemonStatus } from '../../contract/gateway/system.js'
import type { UsedModel } from '../../engine/models/index.js'
import type { MetricsSnapshot } from '../../engine/upkeep/index.js'
import { addEngineMetrics, addRequestMetrics } from './engine-metrics.js'
import { type MetricSample, MetricsPage } from './page.js'
import type { RouteMetrics } from './requests.js'

interface MetricsInput {
  status: DaemonStatus
  models: readonly UsedModel[]
  measured: MetricsSnapshot
  requests: readonly RouteMetrics[]
}

/**
 * Formats the state of the daemon in the Prometheus text format, version 0.0.4. It contains ids and names of spaces and
 * provider names of models, but no address, key or text.
 */
export function formatMetrics({ status, models, measured, requests }: MetricsInput): string {
  const page = new MetricsPage()
  addProcessMetrics(page, status)
  addWorkMetrics(page, status)
  addModelMetrics(page, models)
  addBudgetMetrics(page, status)
  addEngineMetrics(page, measured)
  addRequestMetrics(page, requests)
  return page.text()
}

function addProcessMetrics(
  page: MetricsPage,
  { version, mode, startedAt, memory, eventLoop, processes = [] }: DaemonStatus,
): void {
  const { user, system } = process.cpuUsage()
  page.add('gauge', 'ks_build_info', 'Version and mode of the daemon.', [[{ version, mode }, 1]])
  page.add('gauge', 'process_start_time_seconds', 'Start of the process since the epoch.', [
    [{}, Date.parse(startedAt) / 1000],
  ])
  page.add('counter', 'process_cpu_seconds_total', 'CPU time of the daemon process.', [[{}, (user + system) / 1e6]])
  if (memory !== undefined) {
    page.add('gauge', 'process_resident_memory_bytes', 'Resident memory of the daemon process.', [[{}, memory.rss]])
    page.add('gauge', 'nodejs_heap_size_used_bytes', 'Used heap of the daemon.', [[{}, memory.heapUsed]])
    page.add('gauge', 'nodejs_external_memory_bytes', 'Memory outside of the heap.', [[{}, memory.external]])
  }
  page.add(
    'gauge',
    'ks_process_resident_memory_bytes',
    'Resident memory of the daemon and its children.',
    processes.map(({ role, pid, rss }): MetricSample => [{ role, pid: String(pid) }, rss]),
  )
  if (eventLoop !== undefined)
    page.add('gauge', 'ks_event_loop_delay_seconds', 'Delay of the event loop since the last reset.', [
      [{ quantile: '0.5' }, eventLoop.p50 / 1000],
      [{ quantile: '0.99' }, eventLoop.p99 / 1000],
      [{ quantile: '0.999' }, eventLoop.p999 / 1000],
      [{ quantile: '1' }, eventLoop.max / 1000],
    ])
}

function addWorkMetrics(page: MetricsPage, { activity, storage, damage }: DaemonStatus): void {
  const { activeJobs, waitingJobs, runningQueries = 0, openRequests = 0, backgroundTasks = 0 } = activity
  page.add('gauge', 'ks_jobs', 'Running and waiting jobs.', [
    [{ state: 'active' }, activeJobs],
    [{ state: 'waiting' }, waitingJobs],
  ])
  page.add('gauge', 'ks_queries_running', 'Running queries.', [[{}, runningQueries]])
  page.add('gauge', 'ks_requests_open', 'Open requests.', [[{}, openRequests]])
  page.add('gauge', 'ks_background_tasks', 'Background trainings and index builds.', [[{}, backgroundTasks]])
  page.add('gauge', 'ks_database_damaged', 'Whether the database file is damaged.', [
    [{}, damage === undefined ? 0 : 1],
  ])
  if (storage === undefined) return
  page.add('gauge', 'ks_disk_free_bytes', 'Free disk space in bytes.', [[{}, storage.freeBytes]])
  page.add('gauge', 'ks_disk_full', 'Whether the disk is full and writes are rejected.', [[{}, storage.isFull ? 1 : 0]])
}

function addModelMetrics(page: MetricsPage, models: readonly UsedModel[]): void {
  const toSamples = (value: (model: UsedModel) => number) =>
    models.map((model): MetricSample => [toLabels(model), value(model)])
  page.add(
    'counter',
    'ks_model_calls_total',
    'Calls of a model since the start.',
    toSamples(({ calls }) => calls),
  )
  page.add(
    'counter',
    'ks_model_failures_total',
    'Failed calls of a model, by failure class.',
    models.flatMap((model) =>
      [...model.failures].map(([why, count]): MetricSample => [{ ...toLabels(model), class: why }, count]),
    ),
  )
  page.add(
    'counter',
    'ks_model_tokens_total',
    'Input and output tokens of a model.',
    models.flatMap((model): MetricSample[] => [
      [{ ...toLabels(model), direction: 'input' }, model.inputTokens],
      [{ ...toLabels(model), direction: 'output' }, model.outputTokens],
    ]),
  )
  page.addDurations(
    'ks_model_call_duration_seconds',
    'Duration of calls, including waits and retries.',
    models.map((model) => [toLabels(model), model.durations.counts()] as const),
  )
  page.add(
    'gauge',
    'ks_model_left_alone',
    'Whether calls of a model are suspended after repeated failures.',
    toSamples(({ isLeftAlone }) => (isLeftAlone ? 1 : 0)),
  )
}

function addBudgetMetrics(page: MetricsPage, { models }: DaemonStatus): void {
  if (models === undefined) return
  const { today, budgets } = models
  page.add(
    'gauge',
    'ks_model_used_today',
    'Model usage of all spaces since midnight UTC.',
    Object.entries(today).map(([counter, used]): MetricSample => [{ counter }, used]),
  )
  const toBudgetLabels = ({ knowledgeSpaceId, slug, counter }: (typeof budgets)[number]) => {
    return { space: knowledgeSpaceId, slug, counter }
  }
  page.add(
    'gauge',
    'ks_space_budget_used',
    'Usage of the daily budget of a space.',
    budgets.map((one): MetricSample => [toBudgetLabels(one), one.used]),
  )
  page.add(
    'gauge',
    'ks_space_budget_limit',
    'Daily budget of a space, if it has one.',
    budgets.flatMap((one): MetricSample[] => (one.limit === undefined ? [] : [[toBudgetLabels(one), one.limit]])),
  )
}

function toLabels({ provider, model, kind }: UsedModel) {
  return { provider, model, kind }
}
