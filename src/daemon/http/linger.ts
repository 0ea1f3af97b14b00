import type { IncomingMessage } from 'node:http'

/** a client that is told to stop gets this long to hear it */
const LINGER_MS = 500
const LINGER_BYTES = 16 * 1024 * 1024

/**
 * For a request that is answered before its body has arrived: closes the connection behind the answer, but reads on
 * for a moment first. Closing with unread bytes makes the kernel reset the connection, and a client that is still
 * sending would lose the answer (RFC 9112, 9.6).
 */
export function lingerBeforeClose(incoming: IncomingMessage): void {
  const { socket } = incoming
  const close = socket.destroySoon.bind(socket)
  let left = LINGER_BYTES
  // Node calls this once the answer has gone out, since the answer says `connection: close`
  socket.destroySoon = () => {
    socket.destroySoon = close
    const timer = setTimeout(close, LINGER_MS)
    timer.unref()
    incoming
      .on('data', (chunk: Buffer) => {
        left -= chunk.length
        if (left < 0) close()
      })
      .once('end', close)
      .once('close', () => clearTimeout(timer))
      .on('error', () => {})
      .resume()
  }
}
