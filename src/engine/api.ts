import type { Health } from '../contract/gateway/system.js'
import type { createOperations } from './operations.js'
import type { MetricsSnapshot } from './upkeep/index.js'

/** The embedded engine: all operations of the two APIs, independent of HTTP. All failures are `KsError`. */
export interface Engine extends ReturnType<typeof createOperations> {
  health(): Promise<Health>
  /** Number of engines that are open on the database, this one included: limits are shared among them. */
  gateways(): number
  /**
   * Resolves when all writes that are visible now are durable, or failed to become so: replies to other machines wait
   * for it.
   */
  durable(): Promise<void>
  /** A message about the damage of the database file, once it was noticed. */
  damage(): string | undefined
  /** Running and waiting work, for `daemon status` and for the idle exit. */
  activity(): Promise<{
    activeJobs: number
    waitingJobs: number
    runningQueries: number
    /** trainings and builds of vector graphs */
    backgroundTasks: number
    indexPid?: number
    parserPids: number[]
  }>
  /** The counters since the start, and the current queues, of all tenants; contains no data of any of them. */
  measured(): Promise<MetricsSnapshot>
  jobsOf(tenant: string): Promise<{ activeJobs: number; waitingJobs: number }>
  /** Accepts no more work, lets running work reach its next durable step, then closes everything. */
  close(): Promise<void>
}
