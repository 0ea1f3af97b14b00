import type { IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'
import { streamOf } from './http.js'

export interface ServerEvent {
  event: string
  id?: string
  /** the frame's data as it came */
  data: string
}

/** The frames of a `text/event-stream` answer, as they arrive. Ends when the other side ends the stream. */
export async function* serverEvents(response: IncomingMessage): AsyncGenerator<ServerEvent> {
  const waiting: ServerEvent[] = []
  const parser = createParser({
    onEvent: (frame) => {
      const event: ServerEvent = { event: frame.event ?? 'message', data: frame.data }
      if (frame.id !== undefined) event.id = frame.id
      waiting.push(event)
    },
  })
  response.setEncoding('utf8')
  try {
    for await (const chunk of streamOf(response)) {
      parser.feed(String(chunk))
      while (waiting.length > 0) {
        const next = waiting.shift()
        if (next !== undefined) yield next
      }
    }
  } finally {
    // The reader may leave early; the connection must not stay open for frames nobody reads.
    response.destroy()
  }
}
