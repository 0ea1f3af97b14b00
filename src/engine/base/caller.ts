import type { Write } from './statements.js'

/** Who asks: tenant and subject come from the token, never from a body. */
export interface Caller {
  tenant: string
  subject: string
  /** the daemon's own work, such as a schedule: no scope of a source holds it up, and no token stands for it */
  isDaemon?: true
  /** of a request under an Idempotency-Key: keeps its answer, as a part of the program of its effect; see `writeAnswer` */
  answered?: (answer: unknown) => Write<void>
}
