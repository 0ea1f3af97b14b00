import { availableParallelism } from 'node:os'

/** Default of Node. */
const DEFAULT_THREAD_COUNT = 4

/**
 * Node's flag for the number of threads that collect garbage and compile: one for each processor except the first. On
 * two processors, four of these threads would compete with each other and with the program.
 */
export function buildHelperThreadsFlag(maxThreads = DEFAULT_THREAD_COUNT): string {
  return `--v8-pool-size=${Math.min(maxThreads, Math.max(1, availableParallelism() - 1))}`
}
