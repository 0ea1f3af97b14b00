import type { Readable } from 'node:stream'

/**
 * Passes the chunks of a stream on, each after the one before it was consumed. The stream's own iterator would cost a
 * small file more than everything else done with it.
 *
 * @param take consumes a chunk; may throw, which destroys the stream
 * @throws the error of `take` or of the stream, or an error where the stream ended early
 */
export function forEachChunk(content: Readable, take: (piece: Buffer) => Promise<void> | undefined): Promise<void> {
  if (content.readableEnded) return Promise.resolve()
  if (content.destroyed) return Promise.reject(content.errored ?? truncatedStreamError())
  return new Promise((resolve, reject) => {
    let pending: Promise<void> | undefined
    const removeListeners = () => {
      content.off('data', onData).off('end', onEnd).off('error', fail).off('close', onClose)
    }
    const onEnd = () => {
      removeListeners()
      if (pending === undefined) resolve()
      else pending.then(resolve, reject)
    }
    const onClose = () => fail(truncatedStreamError())
    const fail = (error: unknown) => {
      removeListeners()
      content.on('error', () => {}) // already reported to the caller
      content.destroy()
      // reject only after a chunk in progress is consumed
      const rejectNow = () => reject(error)
      if (pending === undefined) rejectNow()
      else pending.then(rejectNow, rejectNow)
    }
    const onData = (part: Buffer | string) => {
      try {
        pending = take(Buffer.isBuffer(part) ? part : Buffer.from(part))
      } catch (error) {
        fail(error)
        return
      }
      if (pending === undefined) return
      content.pause()
      pending.then(() => {
        pending = undefined
        content.resume()
      }, fail)
    }
    content.on('end', onEnd).on('error', fail).on('close', onClose).on('data', onData)
  })
}

function truncatedStreamError(): Error {
  return new Error('the stream ended before it was complete')
}
