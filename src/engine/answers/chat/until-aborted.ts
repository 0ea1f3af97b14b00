/** Resolves when the signal aborts. */
export function waitForAbort(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
}

/** The result of work; undefined as soon as the signal aborts. The work is not stopped. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  work.catch(() => {}) // After an abort its result is ignored.
  return await Promise.race([work, waitForAbort(signal).then(() => undefined)])
}

/**
 * Yields from a source until the signal aborts. An abort ends the iteration at once: the source is closed, but not
 * awaited.
 */
export async function* untilAborted<T>(source: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  const end = waitForAbort(signal)
  for (;;) {
    const next = source.next()
    next.catch(() => {}) // After an abort its result is ignored.
    const result = await Promise.race([next, end])
    if (result === 'aborted' || signal.aborted) {
      source.return(undefined).catch(() => {})
      return
    }
    if (result.done === true) return
    yield result.value
  }
}
