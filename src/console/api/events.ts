import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** The frames of an event stream, as they come; it ends with the stream. */
export async function* eventsOf(response: Response): AsyncGenerator<EventSourceMessage> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let arrived: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => arrived.push(event) })
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(value)
      const ready = arrived
      arrived = []
      yield* ready
    }
  } finally {
    // who stops reading ends the request
    await reader.cancel().catch(() => undefined)
  }
}
