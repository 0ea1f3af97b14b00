import { availableParallelism } from 'node:os'

/** Node's own number. */
const MOST = 4

/**
 * The flag of Node for how many threads collect and compile beside a program: as many as there are processors beside its
 * own. On two processors four of them take turns with each other and with those who work.
 *
 * @param most of them
 */
export function helperThreads(most = MOST): string {
  return `--v8-pool-size=${Math.min(most, Math.max(1, availableParallelism() - 1))}`
}
