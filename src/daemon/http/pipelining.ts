import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Maximum number of pipelined requests of one connection; real clients send far fewer. */
const MAX_WAITING = 100
/** A response that is not read for this long is aborted with its connection. */
const UNREAD_MS = 60_000

interface Turn {
  /** The response in progress. */
  current: ServerResponse | undefined
  waiting: (() => void)[]
}

const turns = new WeakMap<Socket, Turn>()

/**
 * Handles requests of one connection one after another: the next one starts when the previous response was sent. Node
 * starts every request that has arrived, and keeps all responses for a client that may never read them.
 */
export function serializeRequests(handle: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    const { socket } = incoming
    const turn = turns.get(socket) ?? { current: undefined, waiting: [] }
    turns.set(socket, turn)
    const begin = () => {
      turn.current = outgoing
      outgoing.once('close', () => {
        turn.current = undefined
        if (socket.destroyed) turn.waiting.length = 0
        else turn.waiting.shift()?.()
      })
      handle(incoming, outgoing)
    }
    if (turn.current === undefined) begin()
    else if (turn.waiting.length < MAX_WAITING) turn.waiting.push(begin)
    else socket.destroy()
  }
}

/** Closes connections whose responses are not read. A request that is still being handled may take any time. */
export function closeUnreadResponses(server: Server): void {
  server.setTimeout(UNREAD_MS)
  server.on('timeout', (socket: Socket) => {
    const isWorkedOn = turns.get(socket)?.current !== undefined && socket.writableLength === 0
    if (!isWorkedOn) socket.destroy()
  })
}
