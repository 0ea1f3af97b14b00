import { FairGate } from '../base/fair-gate.js'
import type { ForegroundPriority } from '../base/foreground-priority.js'

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
}
