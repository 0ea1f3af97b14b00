import type { Measured } from '../../engine/status/measured.js'
import type { MetricsPage, Sample } from './page.js'
import type { RouteTimes } from './requests.js'

/** What the engine counted. Nothing here has a label that tells a tenant, a space or a text. */
export function addEngine(page: MetricsPage, measured: Measured): void {
  addDatabase(page, measured)
  addQueues(page, measured)
  const { answers, indexes, leases, objects } = measured
  page.add('counter', 'ks_answers_total', 'Questions that were answered.', [[{}, answers.all]])
  page.add(
    'counter',
    'ks_answers_degraded_total',
    'Answers that had to do without a part, by the part and by what kept it.',
    answers.degraded.map((one): Sample => [{ part: one.part, class: one.class }, one.answers]),
  )
  page.add('gauge', 'ks_indexes_open', 'Spaces whose indexes are open.', [[{}, indexes.open]])
  page.add('gauge', 'ks_index_lag_entries', 'Entries of the logs of open spaces that their indexes have not applied.', [
    [{ of: 'all' }, indexes.behind],
    [{ of: 'most' }, indexes.mostBehind],
  ])
  page.add('gauge', 'ks_leases', 'Leases that are held, by type.', byName(leases.active, 'type'))
  page.add('counter', 'ks_leases_expired_total', 'Leases whose holder was never heard of again.', [
    [{}, leases.expired],
  ])
  page.add(
    'counter',
    'ks_object_requests_total',
    'Requests to the object storage, by how they ended.',
    objects.map(({ operation, outcome, count }): Sample => [{ operation, outcome }, count]),
  )
}

function addDatabase(page: MetricsPage, { database }: Measured): void {
  page.add(
    'counter',
    'ks_database_statements_total',
    'Statements: of one row, of several, and those that change rows.',
    [
      [{ kind: 'get' }, database.get],
      [{ kind: 'all' }, database.all],
      [{ kind: 'run' }, database.run],
    ],
  )
  page.add('counter', 'ks_database_writes_total', 'Writes, several of which may share a commit.', [
    [{}, database.writes],
  ])
  page.add('counter', 'ks_database_commits_total', 'Commits.', [[{}, database.commits]])
}

function addQueues(page: MetricsPage, { database, jobs, queries, claimWaits }: Measured): void {
  page.add('gauge', 'ks_waiting', 'What waits for its turn: queries for a place, writes for a commit.', [
    [{ queue: 'queries' }, queries.waiting],
    [{ queue: 'writes' }, database.waitingWrites],
  ])
  page.add('gauge', 'ks_jobs_open', 'Jobs that have not ended, by their last durable stage.', byName(jobs, 'stage'))
  page.addDurations('ks_job_claim_wait_seconds', 'How long jobs waited for their claims from when they were due.', [
    [{}, claimWaits],
  ])
}

/** What was asked of the daemon. */
export function addRequests(page: MetricsPage, routes: readonly RouteTimes[]): void {
  page.add(
    'counter',
    'ks_http_requests_total',
    'Answered requests.',
    routes.flatMap(({ route, statuses }) =>
      [...statuses].map(([status, count]): Sample => [{ route, status: String(status) }, count]),
    ),
  )
  page.addDurations(
    'ks_http_request_duration_seconds',
    'Time until an answer began; of a stream, until its first line.',
    routes.map(({ route, durations }) => [{ route }, durations] as const),
  )
}

function byName(counts: ReadonlyMap<string, number>, label: string): Sample[] {
  return [...counts].map(([name, count]): Sample => [{ [label]: name }, count])
}
