import { FairGate } from '../base/fair-gate.js'
import type { RightOfWay } from '../base/right-of-way.js'

/** Limits concurrent queries. Background work yields while queries run. */
export class QueryGate extends FairGate {
  readonly #rightOfWay: RightOfWay | undefined

  constructor(limit: number, maxWaiting: number, rightOfWay?: RightOfWay) {
    super(limit, maxWaiting, 'queries')
    this.#rightOfWay = rightOfWay
  }

  override async enter(tenant: string, signal?: AbortSignal): Promise<() => void> {
    const leave = await super.enter(tenant, signal)
    let end = this.#rightOfWay?.begin()
    return () => {
      end?.()
      end = undefined
      leave()
    }
  }
}
