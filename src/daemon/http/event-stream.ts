/** One frame of an event stream; `id` is what `Last-Event-ID` brings back. */
export interface Frame {
  event: string
  data: unknown
  id?: string
}

/** What a handler answers with to stream events. Status and headers go out at once, so admission comes before. */
export interface EventStream {
  headers: Record<string, string>
  frames: AsyncIterable<Frame>
  /** the last frame of a stream that the daemon itself has to end; absent where the client takes the stream up again */
  interrupted?(reason: string): Frame
}

/** An event stream that is going out. */
export interface OpenEventStream {
  body: ReadableStream<Uint8Array>
  /** a daemon that stops does not wait for its end */
  isTakenUpAgain?: boolean
  /** Ends the stream now, with its own last frame. */
  cut(reason: string): void
}

interface Options {
  /** looks at each frame before it goes out; throws when it is not as documented */
  check?(frame: Frame): void
  /** the client went away, reads too slowly, or the stream was cut: the producer of the frames should stop */
  abandon(): void
  /** once, however the stream ended */
  closed(error?: unknown): void
  /** how frames and pings are written; `event:` and `data:` lines with a comment as ping where absent */
  framing?: Framing
}

/** How a stream puts its frames into bytes. */
export interface Framing {
  encode(frame: Frame): Uint8Array
  ping(): Uint8Array
  pingMs: number
  /** pings go out by the clock, also between frames; only into silence where absent */
  steady?: true
}

const PING_MS = 15_000
/** a client that has not taken a frame for this long is treated as gone */
const STALL_MS = 60_000
const TICK_MS = 5_000

const encoder = new TextEncoder()
const PING = encoder.encode(': ping\n\n')
const DEFAULT_FRAMING: Framing = { encode: encodeFrame, ping: () => PING, pingMs: PING_MS }

/** The text of a frame. JSON escapes every line break, so data is always one line. */
export function encodeFrame(frame: Frame): Uint8Array {
  const id = frame.id === undefined ? '' : `id: ${frame.id.replace(/[\r\n\0]/g, '')}\n`
  return encoder.encode(`${id}event: ${frame.event}\ndata: ${JSON.stringify(frame.data)}\n\n`)
}

/**
 * Turns frames into the bytes of a `text/event-stream`. The next frame is asked for when the last one was taken, so a
 * slow reader slows the producer; a comment every 15 seconds keeps proxies and the client's own clock at ease.
 */
export function openEventStream(stream: EventStream, options: Options): OpenEventStream {
  const { framing = DEFAULT_FRAMING } = options
  const frames = stream.frames[Symbol.asyncIterator]()
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let ended = false
  let lastWrite = performance.now()
  let lastPing = lastWrite

  const end = (error?: unknown) => {
    if (ended) return
    ended = true
    clearInterval(timer)
    options.closed(error)
  }
  const send = (frame: Frame | undefined) => {
    if (frame === undefined) return
    options.check?.(frame)
    lastWrite = performance.now()
    controller?.enqueue(framing.encode(frame))
  }
  const cut = (reason: string) => {
    if (ended) return
    send(stream.interrupted?.(reason))
    controller?.close()
    end()
    options.abandon()
  }
  const drop = () => {
    if (ended) return
    const reason = new Error('the client stopped reading')
    controller?.error(reason) // closes the socket too
    end(reason)
    options.abandon()
  }
  const tick = () => {
    const now = performance.now()
    if ((controller?.desiredSize ?? 0) <= 0) {
      if (now - lastWrite > STALL_MS) drop()
    } else if (now - (framing.steady ? lastPing : lastWrite) > framing.pingMs - TICK_MS / 2) {
      lastPing = lastWrite = now
      controller?.enqueue(framing.ping())
    }
  }
  const timer = setInterval(tick, TICK_MS)
  timer.unref()

  const body = new ReadableStream<Uint8Array>({
    start: (opened) => {
      controller = opened
    },
    pull: async () => {
      try {
        const next = await frames.next()
        if (ended) return
        if (next.done !== true) return send(next.value)
        controller?.close()
        end()
      } catch (error) {
        if (ended) return
        send(stream.interrupted?.('the answer could not be completed'))
        controller?.close()
        end(error)
      }
    },
    cancel: () => {
      if (ended) return
      options.abandon()
      end()
      // lets the producer run its `finally` blocks; it was told to stop, so its outcome does not matter
      frames.return?.().catch(() => {})
    },
  })
  return { body, cut, isTakenUpAgain: stream.interrupted === undefined }
}
