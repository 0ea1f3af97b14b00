/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<'aborted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('aborted')
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true })
  })
}

/** What a source yields until the signal aborts, which ends it at once: the source is told, but not waited for. */
export async function* untilAborted<T>(source: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  const end = aborted(signal)
  for (;;) {
    const next = source.next()
    next.catch(() => {}) // after an abort nobody waits for it
    const result = await Promise.race([next, end])
    if (result === 'aborted' || signal.aborted) {
      source.return(undefined).catch(() => {})
      return
    }
    if (result.done === true) return
    yield result.value
  }
}
