import { afterAll, beforeAll, expect, it } from 'vitest'
import { cliHome, startTestServer, type TestServer } from '../helpers/cli.js'

const PIECES = ['<thi', 'nk>first\nof all</think>\n', '\nIt is', ' nine.\n<think>or', ' ten?</think>\nOn Mondays ten.']
const home = cliHome()
let service: TestServer

beforeAll(async () => {
  service = await startTestServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const delta of PIECES) response.write(`event: answer.delta\ndata: ${JSON.stringify({ delta })}\n\n`)
    response.end(`event: answer.done\ndata: ${JSON.stringify({ finishReason: 'stop', metadata: {} })}\n\n`)
  })
})
afterAll(async () => {
  await service.end()
  await home.end()
})

const ask = async (...flags: string[]) => {
  const env = { KS_URL: service.url, KS_TOKEN: 'a.b.c' }
  const space = ['--space', '018f0000-0000-7000-8000-000000000001']
  return (await home.ks(['query', 'When does it open?', ...space, '-q', ...flags], { env })).stdout
}

it('`ks query` omits thoughts of the model from its output; --json contains the original answer', async () => {
  for (const flags of [[], ['--no-stream']]) {
    const said = await ask(...flags)
    expect(said.replace(/\n+/g, '\n'), flags.join()).toBe('It is nine.\nOn Mondays ten.\n')
  }
  expect(JSON.parse(await ask('--json'))).toMatchObject({ answer: PIECES.join('') })
})
