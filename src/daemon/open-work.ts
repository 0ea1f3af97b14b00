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
  stopping(): boolean
  /** Resolves when nothing is open any more. */
  drained(): Promise<void>
}

export function createOpenWork(): OpenWork {
  const streams = new Set<OpenEventStream>()
  const drainWaiters: (() => void)[] = []
  let open = 0
  let lastEnd = performance.now()
  let stopping = false

  const end = () => {
    open--
    lastEnd = performance.now()
    if (open === 0) for (const resolve of drainWaiters.splice(0)) resolve()
  }
  return {
    begin: () => {
      open++
      let ended = false
      return () => {
        if (ended) return
        ended = true
        end()
      }
    },
    count: () => open,
    idleMs: () => (open > 0 ? 0 : performance.now() - lastEnd),
    track: (stream) => {
      streams.add(stream)
      return () => streams.delete(stream)
    },
    cutStreams: (reason) => {
      for (const stream of [...streams]) stream.cut(reason)
    },
    stop: () => {
      stopping = true
      for (const stream of [...streams]) if (stream.isResumable === true) stream.cut('the daemon is stopping')
    },
    stopping: () => stopping,
    drained: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => drainWaiters.push(resolve))),
  }
}
