import type { TopRecord } from '../json-output/daemon.js'
import { computeFigures } from './figures.js'
import { sortSpaces, type TopState } from './state.js'

/** One reading as JSON: the status of the service, and rates since the previous reading. */
export function toTopRecord(state: TopState): TopRecord | undefined {
  const { current, previous, filter } = state
  if (current === undefined) return undefined
  const { stages, models, ...figures } = computeFigures(current, previous)
  const isShown = (slug: string) => filter === undefined || slug === filter
  return {
    at: new Date(current.takenAt).toISOString(),
    status: current.status,
    figures: {
      cpuPercent: finiteOrNull(figures.cpuPercent),
      requestsPerSecond: finiteOrNull(figures.requestsPerSecond),
      errorsPerSecond: finiteOrNull(figures.errorsPerSecond),
      p50: finiteOrNull(figures.p50),
      p95: finiteOrNull(figures.p95),
      waitingQueries: finiteOrNull(figures.waitingQueries),
      waitingWrites: finiteOrNull(figures.waitingWrites),
      indexLag: finiteOrNull(figures.indexLag),
    },
    stages: [...stages],
    models: models.map((model) => ({ ...model, callsPerSecond: finiteOrNull(model.callsPerSecond) })),
    spaces: sortSpaces(state)
      .filter(({ slug }) => isShown(slug))
      .map((space) => ({
        ...space,
        oldest: space.oldest === undefined ? undefined : new Date(space.oldest).toISOString(),
      })),
    jobs: current.jobs.filter(({ space }) => isShown(space)),
    lacks: [...current.lacks],
  }
}

/** Null without a previous reading, or beyond the last bucket bound. */
function finiteOrNull(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : value
}
