import type { IncomingMessage } from 'node:http'
import { createParser } from 'eventsource-parser'
import { readChunks } from './http.js'

export interface ServerEvent {
  event: string
  id?: string
  /** data of the frame as received */
  data: string
}

/** Yields the events of a `text/event-stream` response as they arrive, until the service ends the stream. */
export async function* readServerEvents(response: IncomingMessage): AsyncGenerator<ServerEvent> {
  const pending: ServerEvent[] = []
  const parser = createParser({
    onEvent: (frame) => {
      const event: ServerEvent = { event: frame.event ?? 'message', data: frame.data }
      if (frame.id !== undefined) event.id = frame.id
      pending.push(event)
    },
  })
  response.setEncoding('utf8')
  try {
    for await (const chunk of readChunks(response)) {
      parser.feed(String(chunk))
      yield* pending.splice(0)
    }
  } finally {
    // The consumer may stop early; then the connection must close.
    response.destroy()
  }
}
