import { createParser, type EventSourceMessage } from 'eventsource-parser'

/** Yields the events of an event stream as they arrive, until the stream ends. */
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
    // a consumer that stops ends the request
    await reader.cancel().catch(() => undefined)
  }
}
