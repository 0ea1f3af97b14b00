import type { Write } from './statements.js'

/** The identity behind a call. Tenant and subject come from the token, never from a request body. */
export interface Caller {
  tenant: string
  subject: string
  /** the daemon's own work, such as a schedule: it has no token, and scopes of sources do not restrict it */
  isDaemon?: true
  /**
   * set for a request with an Idempotency-Key: stores the answer in the transaction of its effect; see `writeAnswer`
   */
  recordAnswer?: (answer: unknown) => Write<void>
}
