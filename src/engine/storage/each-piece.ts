import type { Readable } from 'node:stream'

/**
 * Passes the chunks of a stream on, each after the one before it was consumed. The stream's own iterator would cost a
 * small file more than everything else done with it.
 *
 * @param take consumes a chunk; may throw, which destroys the stream
 * @throws the error of `take` or of the stream, or an error where the stream ended early
 */
export function eachPiece(content: Readable, take: (piece: Buffer) => Promise<void> | undefined): Promise<void> {
  if (content.readableEnded) return Promise.resolve()
  if (content.destroyed) return Promise.reject(content.errored ?? cutOff())
  return new Promise((resolve, reject) => {
    let taking: Promise<void> | undefined
    const ended = () => {
      content.off('data', onData).off('end', onEnd).off('error', fail).off('close', onClose)
    }
    const onEnd = () => {
      ended()
      if (taking === undefined) resolve()
      else taking.then(resolve, reject)
    }
    const onClose = () => fail(cutOff())
    const fail = (error: unknown) => {
      ended()
      content.on('error', () => {}) // already reported to the caller
      content.destroy()
      // reject only after a chunk in progress is consumed
      const told = () => reject(error)
      if (taking === undefined) told()
      else taking.then(told, told)
    }
    const onData = (part: Buffer | string) => {
      try {
        taking = take(Buffer.isBuffer(part) ? part : Buffer.from(part))
      } catch (error) {
        fail(error)
        return
      }
      if (taking === undefined) return
      content.pause()
      taking.then(() => {
        taking = undefined
        content.resume()
      }, fail)
    }
    content.on('end', onEnd).on('error', fail).on('close', onClose).on('data', onData)
  })
}

function cutOff(): Error {
  return new Error('the stream ended before it was complete')
}
