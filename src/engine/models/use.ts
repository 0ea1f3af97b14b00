/** What a model was used for since the start of the daemon. */
export interface ModelUse {
  calls: number
  /** of the calls, those that ended without an answer; what was abandoned is none of them */
  failed: number
  inputTokens: number
  outputTokens: number
}

export function noUse(): ModelUse {
  return { calls: 0, failed: 0, inputTokens: 0, outputTokens: 0 }
}

/** Counts a call, and its failure. */
export async function counted<T>(use: ModelUse, signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  use.calls++
  try {
    return await call()
  } catch (error) {
    if (signal?.aborted !== true) use.failed++
    throw error
  }
}
