import { KsError } from '../../../contract/errors.js'
import type { Caller } from '../../base/caller.js'
import { FairGate } from '../../base/fair-gate.js'
import type { ForegroundPriority } from '../../base/foreground-priority.js'

/** Limits concurrent queries. Background work yields while queries run. */
export class QueryGate extends FairGate {
  readonly #rightOfWay: ForegroundPriority | undefined

  constructor(limit: number, maxWaiting: number, rightOfWay?: ForegroundPriority) {
    super(limit, maxWaiting, 'queries')
    this.#rightOfWay = rightOfWay
  }

  override async enter(tenant: string, signal?: AbortSignal): Promise<() => void> {
    const leave = await super.enter(tenant, signal)
    let end = this.#rightOfWay?.beginQuery()
    return () => {
      end?.()
      end = undefined
      leave()
    }
  }

  /** Runs a query in a slot of its tenant. @param limit when its signal aborts, and the message of that error */
  async run<T>(
    { tenant }: Caller,
    limit: { timeoutMs: number; message: string },
    query: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(new KsError('unavailable', limit.message)), limit.timeoutMs)
    timer.unref()
    try {
      const leave = await this.enter(tenant, deadline.signal)
      try {
        return await query(deadline.signal)
      } finally {
        leave()
      }
    } finally {
      clearTimeout(timer)
    }
  }
}
