import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum number of pipelined requests of one connection; real clients send far fewer. */
const MAX_PIPELINED_REQUESTS = 100
/** A response that is not read for this long is aborted with its connection. */
const UNREAD_TIMEOUT_MS = 60_000

interface ConnectionQueue {
  /** The response in progress. */
  current: ServerResponse | undefined
  pending: (() => void)[]
}

const queues = new WeakMap<Socket, ConnectionQueue>()

/**
 * Handles requests of one connection one after another: the next one starts when the previous response was sent. Node
 * starts every request that has arrived, and keeps all responses for a client that may never read them.
 */
export function serializeRequests(handle: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    const { socket } = incoming
    const queue = queues.get(socket) ?? { current: undefined, pending: [] }
    queues.set(socket, queue)
    const begin = () => {
      queue.current = outgoing
      outgoing.once('close', () => {
        queue.current = undefined
        if (socket.destroyed) queue.pending.length = 0
        else queue.pending.shift()?.()
      })
      handle(incoming, outgoing)
    }
    if (queue.current === undefined) begin()
    else if (queue.pending.length < MAX_PIPELINED_REQUESTS) queue.pending.push(begin)
    else socket.destroy()
  }
}

/** Closes connections whose responses are not read. A request that is still being handled may take any time. */
export function closeUnreadResponses(server: Server): void {
  server.setTimeout(UNREAD_TIMEOUT_MS)
  server.on('timeout', (socket: Socket) => {
    const isHandled = queues.get(socket)?.current !== undefined && socket.writableLength === 0
    if (!isHandled) socket.destroy()
  })
}
