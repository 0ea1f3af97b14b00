import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A stand-in for a language model on loopback: it says what a function of the messages gives. */
export interface StandIn {
  url: string
  close(): Promise<void>
}

type Says = (messages: { role: string; content: string }[]) => string

/** Serves chat completions, streamed or whole. */
export async function startStandIn(says: Says): Promise<StandIn> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      const { messages = [], stream = false } = JSON.parse(body === '' ? '{}' : body)
      answer(response, says(messages), stream)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(response: ServerResponse, content: string, stream: boolean): void {
  const usage = { prompt_tokens: 10, completion_tokens: 10 }
  if (!stream) {
    response.writeHead(200, { 'content-type': 'application/json' })
    const message = { role: 'assistant', content }
    response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const say = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`)
  say({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
  say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  say({ choices: [], usage })
  response.end('data: [DONE]\n\n')
}
