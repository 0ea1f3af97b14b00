import { availableParallelism } from 'node:os'

/** Default of Node. */
const MOST = 4

/**
 * Node's flag for the number of threads that collect garbage and compile: one for each processor except the first. On
 * two processors, four of these threads would compete with each other and with the program.
 */
export function helperThreads(most = MOST): string {
  return `--v8-pool-size=${Math.min(most, Math.max(1, availableParallelism() - 1))}`
}
