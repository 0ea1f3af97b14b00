import { type DurationCounts, Durations } from '../../lib/durations.js'

/** Histogram bounds of request durations in seconds, from a lookup to a large upload. */
const DURATION_BOUNDS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Label of requests without a route. */
const NO_ROUTE = 'none'

export interface RouteMetrics {
  /** Method and path template of the API description. */
  route: string
  statuses: ReadonlyMap<number, number>
  durations: DurationCounts
}

/** Counts responses by route, without addresses or ids. */
export class RequestMetrics {
  readonly #routes = new Map<string, { statuses: Map<number, number>; durations: Durations }>()

  /** @param ms milliseconds until the response started; of a stream, until its first line */
  record(route: { method: string; path: string } | undefined, status: number, ms: number): void {
    const name = route === undefined ? NO_ROUTE : `${route.method} ${route.path}`
    let routeMetrics = this.#routes.get(name)
    if (routeMetrics === undefined) {
      routeMetrics = { statuses: new Map(), durations: new Durations(DURATION_BOUNDS_SECONDS) }
      this.#routes.set(name, routeMetrics)
    }
    routeMetrics.statuses.set(status, (routeMetrics.statuses.get(status) ?? 0) + 1)
    routeMetrics.durations.record(ms / 1000)
  }

  all(): RouteMetrics[] {
    return [...this.#routes].map(([route, { statuses, durations }]) => {
      return { route, statuses: new Map(statuses), durations: durations.counts() }
    })
  }
}
