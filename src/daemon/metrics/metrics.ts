import type { DaemonStatus } from '../../contract/gateway/system.js'
import type { UsedModel } from '../../engine/models/registry.js'
import type { Measured } from '../../engine/status/measured.js'
import { addEngine, addRequests } from './engine-metrics.js'
import { MetricsPage, type Sample } from './page.js'
import type { RouteTimes } from './requests.js'

/** All that there is to be told. */
interface Measurements {
  status: DaemonStatus
  models: readonly UsedModel[]
  measured: Measured
  requests: readonly RouteTimes[]
}

/**
 * What the daemon is and does, in the text format of Prometheus, version 0.0.4. Of a space it tells id and name, of a
 * model its provider's name: no address, no key, no text of anybody.
 */
export function metricsText({ status, models, measured, requests }: Measurements): string {
  const page = new MetricsPage()
  addProcess(page, status)
  addWork(page, status)
  addModels(page, models)
  addBudgets(page, status)
  addEngine(page, measured)
  addRequests(page, requests)
  return page.text()
}

function addProcess(
  page: MetricsPage,
  { version, mode, startedAt, memory, eventLoop, processes = [] }: DaemonStatus,
): void {
  const { user, system } = process.cpuUsage()
  page.add('gauge', 'ks_build_info', 'Version and mode of the daemon.', [[{ version, mode }, 1]])
  page.add('gauge', 'process_start_time_seconds', 'Start of the process since the epoch.', [
    [{}, Date.parse(startedAt) / 1000],
  ])
  page.add('counter', 'process_cpu_seconds_total', 'Processor time of the daemon itself.', [
    [{}, (user + system) / 1e6],
  ])
  if (memory !== undefined) {
    page.add('gauge', 'process_resident_memory_bytes', 'Resident memory of the daemon itself.', [[{}, memory.rss]])
    page.add('gauge', 'nodejs_heap_size_used_bytes', 'Heap of the daemon in use.', [[{}, memory.heapUsed]])
    page.add('gauge', 'nodejs_external_memory_bytes', 'Memory outside of the heap.', [[{}, memory.external]])
  }
  page.add(
    'gauge',
    'ks_process_resident_memory_bytes',
    'Resident memory of the daemon and its children.',
    processes.map(({ role, pid, rss }): Sample => [{ role, pid: String(pid) }, rss]),
  )
  if (eventLoop !== undefined)
    page.add('gauge', 'ks_event_loop_delay_seconds', 'Delay of the event loop since it was last reset.', [
      [{ quantile: '0.5' }, eventLoop.p50 / 1000],
      [{ quantile: '0.99' }, eventLoop.p99 / 1000],
      [{ quantile: '0.999' }, eventLoop.p999 / 1000],
      [{ quantile: '1' }, eventLoop.max / 1000],
    ])
}

function addWork(page: MetricsPage, { activity, storage, damage }: DaemonStatus): void {
  const { activeJobs, waitingJobs, runningQueries = 0, openRequests = 0, backgroundTasks = 0 } = activity
  page.add('gauge', 'ks_jobs', 'Jobs that run and that wait.', [
    [{ state: 'active' }, activeJobs],
    [{ state: 'waiting' }, waitingJobs],
  ])
  page.add('gauge', 'ks_queries_running', 'Queries that are being answered.', [[{}, runningQueries]])
  page.add('gauge', 'ks_requests_open', 'Requests that are not answered to their end.', [[{}, openRequests]])
  page.add('gauge', 'ks_background_tasks', 'Trainings and builds behind publication.', [[{}, backgroundTasks]])
  page.add('gauge', 'ks_database_damaged', 'Whether damage of the database file was met.', [
    [{}, damage === undefined ? 0 : 1],
  ])
  if (storage === undefined) return
  page.add('gauge', 'ks_disk_free_bytes', 'Bytes that may still be written.', [[{}, storage.freeBytes]])
  page.add('gauge', 'ks_disk_full', 'Whether data is refused for want of room.', [[{}, storage.isFull ? 1 : 0]])
}

function addModels(page: MetricsPage, models: readonly UsedModel[]): void {
  const each = (value: (model: UsedModel) => number) => models.map((model): Sample => [labelsOf(model), value(model)])
  page.add(
    'counter',
    'ks_model_calls_total',
    'Calls of a model since the start.',
    each(({ calls }) => calls),
  )
  page.add(
    'counter',
    'ks_model_failures_total',
    'Calls without an answer, by what kept them from it.',
    models.flatMap((model) =>
      [...model.failures].map(([why, count]): Sample => [{ ...labelsOf(model), class: why }, count]),
    ),
  )
  page.add(
    'counter',
    'ks_model_tokens_total',
    'Tokens that a model read and wrote.',
    models.flatMap((model): Sample[] => [
      [{ ...labelsOf(model), direction: 'input' }, model.inputTokens],
      [{ ...labelsOf(model), direction: 'output' }, model.outputTokens],
    ]),
  )
  page.addDurations(
    'ks_model_call_duration_seconds',
    'How long calls took, with waits and further tries.',
    models.map((model) => [labelsOf(model), model.durations] as const),
  )
  page.add(
    'gauge',
    'ks_model_left_alone',
    'Whether a model failed so often that it is not asked for a while.',
    each(({ isLeftAlone }) => (isLeftAlone ? 1 : 0)),
  )
}

function addBudgets(page: MetricsPage, { models }: DaemonStatus): void {
  if (models === undefined) return
  const { today, budgets } = models
  page.add(
    'gauge',
    'ks_model_used_today',
    'What all spaces used of models since midnight UTC.',
    Object.entries(today).map(([counter, used]): Sample => [{ counter }, used]),
  )
  const labels = ({ knowledgeSpaceId, slug, counter }: (typeof budgets)[number]) => {
    return { space: knowledgeSpaceId, slug, counter }
  }
  page.add(
    'gauge',
    'ks_space_budget_used',
    'What a space used of its daily budget.',
    budgets.map((one): Sample => [labels(one), one.used]),
  )
  page.add(
    'gauge',
    'ks_space_budget_limit',
    'The daily budget of a space, where it has one.',
    budgets.flatMap((one): Sample[] => (one.limit === undefined ? [] : [[labels(one), one.limit]])),
  )
}

function labelsOf({ provider, model, kind }: UsedModel) {
  return { provider, model, kind }
}
