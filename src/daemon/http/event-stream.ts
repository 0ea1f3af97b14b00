/** One frame of an event stream; clients return `id` in `Last-Event-ID`. */
export interface StreamFrame {
  event: string
  data: unknown
  id?: string
}

/** The reply of a handler that streams events. Status and headers are sent at once, so admission comes first. */
export interface EventStream {
  headers: Record<string, string>
  frames: AsyncIterable<StreamFrame>
  /** The last frame of a stream that the daemon must end; absent if clients resume the stream. */
  interrupted?(reason: string): StreamFrame
}

/** An event stream that is being sent. */
export interface OpenEventStream {
  body: ReadableStream<Uint8Array>
  /** A stopping daemon does not wait for its end. */
  isResumable?: boolean
  /** Ends the stream now, with its own last frame. */
  cut(reason: string): void
}

interface EventStreamOptions {
  /** Validates each frame before it is sent; throws if it does not match its schema. */
  check?(frame: StreamFrame): void
  /** The client disconnected or reads too slowly, or the stream was cut: the producer of the frames should stop. */
  abandon(): void
  /** Called once, however the stream ended. */
  closed(error?: unknown): void
  /** Encoding of frames and pings; absent: `event:` and `data:` lines, with a comment as ping. */
  framing?: StreamFraming
}

/** How a stream encodes its frames as bytes. */
export interface StreamFraming {
  encode(frame: StreamFrame): Uint8Array
  ping(): Uint8Array
  pingMs: number
  /** Pings are sent at fixed intervals, also between frames; absent: only during silence. */
  isSteady?: true
}

const PING_MS = 15_000
/** A client that has not read for this long counts as disconnected. */
const STALL_TIMEOUT_MS = 60_000
const TICK_MS = 5_000

const encoder = new TextEncoder()
const PING = encoder.encode(': ping\n\n')
const DEFAULT_FRAMING: StreamFraming = { encode: encodeFrame, ping: () => PING, pingMs: PING_MS }

/** The text of a frame. JSON escapes all line breaks, so data is always one line. */
export function encodeFrame(frame: StreamFrame): Uint8Array {
  const id = frame.id === undefined ? '' : `id: ${frame.id.replace(/[\r\n\0]/g, '')}\n`
  return encoder.encode(`${id}event: ${frame.event}\ndata: ${JSON.stringify(frame.data)}\n\n`)
}

/**
 * Encodes frames as a `text/event-stream`. The next frame is requested when the last one was read, so a slow reader
 * slows the producer. A comment every 15 seconds prevents timeouts of proxies and clients.
 */
export function openEventStream(stream: EventStream, options: EventStreamOptions): OpenEventStream {
  const { framing = DEFAULT_FRAMING } = options
  const frames = stream.frames[Symbol.asyncIterator]()
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let isFinished = false
  let lastWriteAt = performance.now()
  let lastPingAt = lastWriteAt

  const finish = (error?: unknown) => {
    if (isFinished) return
    isFinished = true
    clearInterval(timer)
    options.closed(error)
  }
  const send = (frame: StreamFrame | undefined) => {
    if (frame === undefined) return
    options.check?.(frame)
    lastWriteAt = performance.now()
    controller?.enqueue(framing.encode(frame))
  }
  const cut = (reason: string) => {
    if (isFinished) return
    send(stream.interrupted?.(reason))
    controller?.close()
    finish()
    options.abandon()
  }
  const abortStalled = () => {
    if (isFinished) return
    const reason = new Error('the client stopped reading')
    controller?.error(reason) // Also closes the socket.
    finish(reason)
    options.abandon()
  }
  const tick = () => {
    const now = performance.now()
    if ((controller?.desiredSize ?? 0) <= 0) {
      if (now - lastWriteAt > STALL_TIMEOUT_MS) abortStalled()
    } else if (now - (framing.isSteady ? lastPingAt : lastWriteAt) > framing.pingMs - TICK_MS / 2) {
      lastPingAt = lastWriteAt = now
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
        if (isFinished) return
        if (next.done !== true) return send(next.value)
        controller?.close()
        finish()
      } catch (error) {
        if (isFinished) return
        send(stream.interrupted?.('the answer could not be completed'))
        controller?.close()
        finish(error)
      }
    },
    cancel: () => {
      if (isFinished) return
      options.abandon()
      finish()
      // Lets the producer run its `finally` blocks. Its result does not matter: it was stopped.
      frames.return?.().catch(() => {})
    },
  })
  return { body, cut, isResumable: stream.interrupted === undefined }
}
