import { buildIfStale } from '../scripts/build.js'

/**
 * Child processes, workers and the command line run compiled, so `dist` has to be that of the sources.
 * `KS_SKIP_BUILD=1` leaves it as it is; it is set here too, because every project of a run comes by.
 */
export default function setup(): void {
  if (process.env.KS_SKIP_BUILD === '1') return
  buildIfStale({ tolerant: true })
  process.env.KS_SKIP_BUILD = '1'
}
