import { buildIfStale } from '../scripts/build.js'

/**
 * Child processes, workers and the command line run compiled code, so `dist` must match the sources. `KS_SKIP_BUILD=1`
 * skips the build; it is set here too, because every project of a run loads this module.
 */
export default function setup(): void {
  if (process.env.KS_SKIP_BUILD === '1') return
  buildIfStale({ tolerant: true })
  process.env.KS_SKIP_BUILD = '1'
}
