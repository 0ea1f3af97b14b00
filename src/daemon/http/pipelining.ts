import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that may wait on one connection for their turn; no client that pipelines sends nearly as many. */
const MAX_WAITING = 100
/** An answer of which nobody takes anything for this long is given up, with its connection. */
const UNREAD_MS = 60_000

interface Turn {
  /** the answer that is being made or sent */
  current: ServerResponse | undefined
  waiting: (() => void)[]
}

const turns = new WeakMap<Socket, Turn>()

/**
 * Requests of one connection one after the other: the next one is begun when the answer before it has gone out. Node
 * begins every request that has arrived, and keeps all their answers for a client that may never read them.
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

/** Gives up connections whose answers nobody reads. A request that is still being worked on may take as long as it takes. */
export function closeUnreadResponses(server: Server): void {
  server.setTimeout(UNREAD_MS)
  server.on('timeout', (socket: Socket) => {
    const isWorkedOn = turns.get(socket)?.current !== undefined && socket.writableLength === 0
    if (!isWorkedOn) socket.destroy()
  })
}
