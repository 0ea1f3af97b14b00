import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** Yields the events of an event stream as they arrive, until the stream ends. */
export async function* readEvents(response: Response): AsyncGenerator<EventSourceMessage> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) return
  let received: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => received.push(event) })
  try {
    while (true) {
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(value)
      const ready = received
      received = []
      yield* ready
    }
  } finally {
    // ends the request if the consumer stops early
    await reader.cancel().catch(() => undefined)
  }
}
