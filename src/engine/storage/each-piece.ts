import type { Readable } from 'node:stream'

/**
 * Hands the pieces of a stream on, each when the one before it was taken. Not by the stream's own iterator, which costs a
 * small file more than all else that is done with it.
 *
 * @param take refuses a piece by throwing; the stream is destroyed then
 * @throws what `take` threw, or what became of a stream that did not come to its end
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
      content.on('error', () => {}) // told to who waits for this
      content.destroy()
      // nobody goes on while a piece is still being taken
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
  return new Error('the stream ended before all of it came')
}
