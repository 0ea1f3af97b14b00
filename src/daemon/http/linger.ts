import type { IncomingMessage } from 'node:http'

/** Time for a rejected client to read the response. */
const LINGER_MS = 500
const MAX_LINGER_BYTES = 16 * 1024 * 1024

/**
 * For a response that is sent before the request body has arrived: closes the connection after the response, but keeps
 * reading for a moment. Closing with unread bytes makes the kernel reset the connection, and a client that is still
 * sending would lose the response (RFC 9112, 9.6).
 */
export function lingerBeforeClose(incoming: IncomingMessage): void {
  const { socket } = incoming
  const close = socket.destroySoon.bind(socket)
  let remaining = MAX_LINGER_BYTES
  // Node calls this after the response was sent, because of its `connection: close`.
  socket.destroySoon = () => {
    socket.destroySoon = close
    const timer = setTimeout(close, LINGER_MS)
    timer.unref()
    incoming
      .on('data', (chunk: Buffer) => {
        remaining -= chunk.length
        if (remaining < 0) close()
      })
      .once('end', close)
      .once('close', () => clearTimeout(timer))
      .on('error', () => {})
      .resume()
  }
}
