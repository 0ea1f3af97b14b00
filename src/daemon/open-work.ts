import type { OpenEventStream } from './http/event-stream.js'

/** Open requests and streams, for the orderly shutdown and the idle exit. */
export interface OpenWork {
  /**
   * Counts a request.
   * @returns an idempotent function that ends it
   */
  begin(): () => void
  count(): number
  /** Milliseconds since the last request ended; 0 while one is open. */
  idleMs(): number
  /**
   * Registers a stream for `cutStreams`.
   * @returns a function that unregisters it
   */
  track(stream: OpenEventStream): () => void
  cutStreams(reason: string): void
  /** Rejects new requests from now on, and ends resumable streams. */
  stop(): void
  isStopping(): boolean
  /** Resolves when nothing is open any more. */
  waitUntilDrained(): Promise<void>
}

export function createOpenWork(): OpenWork {
  const streams = new Set<OpenEventStream>()
  const drainWaiters: (() => void)[] = []
  let openCount = 0
  let lastEndAt = performance.now()
  let isStopping = false

  const end = () => {
    openCount--
    lastEndAt = performance.now()
    if (openCount === 0) for (const resolve of drainWaiters.splice(0)) resolve()
  }
  return {
    begin: () => {
      openCount++
      let ended = false
      return () => {
        if (ended) return
        ended = true
        end()
      }
    },
    count: () => openCount,
    idleMs: () => (openCount > 0 ? 0 : performance.now() - lastEndAt),
    track: (stream) => {
      streams.add(stream)
      return () => streams.delete(stream)
    },
    cutStreams: (reason) => {
      for (const stream of [...streams]) stream.cut(reason)
    },
    stop: () => {
      isStopping = true
      for (const stream of [...streams]) if (stream.isResumable === true) stream.cut('the daemon is stopping')
    },
    isStopping: () => isStopping,
    waitUntilDrained: () =>
      openCount === 0 ? Promise.resolve() : new Promise((resolve) => drainWaiters.push(resolve)),
  }
}
