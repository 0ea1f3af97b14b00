import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface SlowModel {
  url: string
  /** words of each answer */
  tokens: number
  /** Resolves when the next answer is given up by its caller, with the time by `performance.now`. */
  givenUp(): Promise<number>
  close(): Promise<void>
}

/** A stand-in for a model that thinks before its first word and speaks slowly: streamed chat completions. */
export async function startSlowModel(pace: {
  firstTokenMs: number
  tokens: number
  tokenMs: number
  /** words of a token; one when absent */
  words?: number
}): Promise<SlowModel> {
  let waiting: ((time: number) => void)[] = []
  const server = createServer((request, response) => {
    response.on('close', () => {
      if (response.writableFinished) return
      for (const resolve of waiting) resolve(performance.now())
      waiting = []
    })
    request.resume().on('end', () => {
      speak(response, pace).catch(() => response.destroy())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // a listening TCP server has one
  return {
    url: `http://127.0.0.1:${port}/v1`,
    tokens: pace.tokens,
    givenUp: () => new Promise((resolve) => waiting.push(resolve)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function speak(
  response: ServerResponse,
  { words = 1, ...pace }: { firstTokenMs: number; tokens: number; tokenMs: number; words?: number },
) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const say = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`)
  await sleep(pace.firstTokenMs)
  for (let n = 0; n < pace.tokens && !response.destroyed; n++) {
    const content = Array.from({ length: words }, (_, place) => `word${n * words + place} `).join('')
    say({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
    await sleep(pace.tokenMs)
  }
  say({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  say({ choices: [], usage: { prompt_tokens: 10, completion_tokens: pace.tokens } })
  response.end('data: [DONE]\n\n')
}
