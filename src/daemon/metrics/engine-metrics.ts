import type { MetricsSnapshot } from '../../engine/upkeep/index.js'
import type { MetricSample, MetricsPage } from './page.js'
import type { RouteMetrics } from './requests.js'

/** Metrics of the engine. No label identifies a tenant, a space or a text. */
export function addEngineMetrics(page: MetricsPage, measured: MetricsSnapshot): void {
  addDatabaseMetrics(page, measured)
  addQueueMetrics(page, measured)
  const { answers, indexes, leases, objects } = measured
  page.add('counter', 'ks_answers_total', 'Answered questions.', [[{}, answers.all]])
  page.add(
    'counter',
    'ks_answers_degraded_total',
    'Degraded answers, by missing part and failure class.',
    answers.degraded.map(
      ({ part, class: failureClass, answers: count }): MetricSample => [{ part, class: failureClass }, count],
    ),
  )
  page.add('gauge', 'ks_indexes_open', 'Spaces with open indexes.', [[{}, indexes.open]])
  page.add(
    'gauge',
    'ks_index_lag_entries',
    'Index log entries of open spaces that their indexes have not applied yet.',
    [
      [{ of: 'all' }, indexes.pendingEntries],
      [{ of: 'most' }, indexes.maxPendingEntries],
    ],
  )
  page.add('gauge', 'ks_leases', 'Active leases, by type.', toSamples(leases.active, 'type'))
  page.add('counter', 'ks_leases_expired_total', 'Leases that expired without a release by their holder.', [
    [{}, leases.expired],
  ])
  page.add(
    'counter',
    'ks_object_requests_total',
    'Requests to the object storage, by outcome.',
    objects.map(({ operation, outcome, count }): MetricSample => [{ operation, outcome }, count]),
  )
}

function addDatabaseMetrics(page: MetricsPage, { database }: MetricsSnapshot): void {
  page.add(
    'counter',
    'ks_database_statements_total',
    'Statements: reads of one row (get), of several rows (all), and writes (run).',
    [
      [{ kind: 'get' }, database.get],
      [{ kind: 'all' }, database.all],
      [{ kind: 'run' }, database.run],
    ],
  )
  page.add('counter', 'ks_database_writes_total', 'Writes; several may share a commit.', [[{}, database.writes]])
  page.add('counter', 'ks_database_commits_total', 'Commits.', [[{}, database.commits]])
}

function addQueueMetrics(page: MetricsPage, { database, jobs, queries, claimWaits }: MetricsSnapshot): void {
  page.add('gauge', 'ks_waiting', 'Waiting work: queries for a free slot, writes for a commit.', [
    [{ queue: 'queries' }, queries.waiting],
    [{ queue: 'writes' }, database.waitingWrites],
  ])
  page.add('gauge', 'ks_jobs_open', 'Unfinished jobs, by their last durable stage.', toSamples(jobs, 'stage'))
  page.addDurations('ks_job_claim_wait_seconds', 'Time from the due time of a job to its claim.', [[{}, claimWaits]])
}

export function addRequestMetrics(page: MetricsPage, routes: readonly RouteMetrics[]): void {
  page.add(
    'counter',
    'ks_http_requests_total',
    'Answered requests.',
    routes.flatMap(({ route, statuses }) =>
      [...statuses].map(([status, count]): MetricSample => [{ route, status: String(status) }, count]),
    ),
  )
  page.addDurations(
    'ks_http_request_duration_seconds',
    'Time until the response started; of a stream, until its first line.',
    routes.map(({ route, durations }) => [{ route }, durations] as const),
  )
}

function toSamples(counts: ReadonlyMap<string, number>, label: string): MetricSample[] {
  return [...counts].map(([name, count]): MetricSample => [{ [label]: name }, count])
}
