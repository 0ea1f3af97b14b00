import type { OpenEventStream } from './event-stream.js'

/** A client that has not read for this long counts as disconnected. */
const STALL_TIMEOUT_MS = 60_000
const TICK_MS = 5_000
/** Small chunks are combined up to this size: headers and padding of files are a few bytes. */
const BATCH_BYTES = 64 * 1024

/**
 * Streams bytes as they are produced: the next chunk is requested when the last one was read. A failure breaks the
 * connection, so that a client cannot mistake a part for the complete data.
 *
 * @param closed called once, whatever the outcome
 */
export function openByteStream(bytes: AsyncIterable<Uint8Array>, closed: (error?: unknown) => void): OpenEventStream {
  const chunks = batchChunks(bytes)
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let isFinished = false
  let lastWriteAt = performance.now()
  const finish = (error?: unknown) => {
    if (isFinished) return
    isFinished = true
    clearInterval(timer)
    if (error !== undefined) controller?.error(error)
    chunks.return(undefined).catch(() => undefined)
    closed(error)
  }
  const tick = () => {
    if ((controller?.desiredSize ?? 0) <= 0 && performance.now() - lastWriteAt > STALL_TIMEOUT_MS)
      finish(new Error('the client stopped reading'))
  }
  const timer = setInterval(tick, TICK_MS).unref()
  const body = new ReadableStream<Uint8Array>({
    start: (opened) => {
      controller = opened
    },
    pull: async () => {
      try {
        const next = await chunks.next()
        if (isFinished) return
        lastWriteAt = performance.now()
        if (next.done !== true) return controller?.enqueue(next.value)
        controller?.close()
        finish()
      } catch (error) {
        finish(error)
      }
    },
    cancel: () => finish(),
  })
  return { body, cut: (reason) => finish(new Error(reason)) }
}

async function* batchChunks(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let buffered: Uint8Array[] = []
  let size = 0
  for await (const piece of bytes) {
    buffered.push(piece)
    size += piece.length
    if (size < BATCH_BYTES) continue
    yield Buffer.concat(buffered)
    buffered = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(buffered)
}
