import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCliToken } from '../../src/local/keys.js'
import { spaceWith, TWO_PART } from '../engine/answers/research/helpers.js'
import { type DaemonProcess, startEdge, startKsd, type TestEdge, temporaryDir } from '../helpers/daemon.js'

interface Frame {
  id: string
  event: string
  data: Record<string, unknown>
}

function frames(text: string): Frame[] {
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('id: '))
    .map((block) => {
      const line = (name: string) =>
        block
          .split('\n')
          .find((each) => each.startsWith(`${name}: `))!
          .slice(name.length + 2)
      return { id: line('id'), event: line('event'), data: JSON.parse(line('data')) }
    })
}

describe('the event stream of a research task', () => {
  let edge: TestEdge
  let path = ''
  const read = async (query = '', headers: Record<string, string> = {}) => {
    const response = await edge.send('GET', `${path}${query}`, { token: edge.tokens.ada, headers })
    return { status: response.status, frames: response.status === 200 ? frames(await response.text()) : [] }
  }
  beforeAll(async () => {
    edge = await startEdge()
    const knowledgeSpaceId = await spaceWith(edge.engine)
    const made = await edge.send('POST', '/research-tasks', {
      token: edge.tokens.ada,
      json: { knowledgeSpaceId, query: TWO_PART },
    })
    expect(made.status).toBe(201)
    path = `/research-tasks/${JSON.parse(await made.text()).id}/events`
  })
  afterAll(() => edge.end())

  test('continues after a cursor or after Last-Event-ID, which takes precedence', async () => {
    const { frames: all } = await read('?limit=100')
    expect(all.at(-1)?.event).toBe('research.completed')
    expect((await read(`?limit=100&cursor=${all[1]!.id}`)).frames).toEqual(all.slice(2))
    expect((await read('?limit=100', { 'last-event-id': all[2]!.id })).frames).toEqual(all.slice(3))
    const both = await read(`?limit=100&cursor=${all[0]!.id}`, { 'last-event-id': all[3]!.id })
    expect(both.frames).toEqual(all.slice(4))
    expect((await read('?limit=100', { 'last-event-id': all.at(-1)!.id })).frames).toEqual([])
    // An event source without events sends no id or an empty one.
    expect((await read('?limit=100', { 'last-event-id': '' })).frames).toEqual(all)
  })

  test('closes after `limit` frames, and refuses unknown ids', async () => {
    expect((await read('?limit=2')).frames).toHaveLength(2)
    expect((await read()).frames.length).toBeLessThanOrEqual(25)
    expect((await read('', { 'last-event-id': 'nonsense' })).status).toBe(400)
    const partials = await edge.send('GET', path.replace('events', 'partials?limit=1'), { token: edge.tokens.ada })
    const { nextCursor } = JSON.parse(await partials.text())
    expect((await read('', { 'last-event-id': nextCursor })).status).toBe(400)
  })
})

describe('a stopping daemon', () => {
  let daemon: DaemonProcess | undefined
  const home = temporaryDir()
  afterAll(async () => {
    if (daemon?.child.exitCode === null && daemon.child.signalCode === null) await daemon.end('SIGKILL')
    home.remove()
  })

  test('closes task streams without a final frame', async () => {
    // Nothing listens at this address: the model is retried for longer than the test takes.
    const provider = { pluginId: 'openai-compatible', provider: 'local' }
    const { createServer } = await import('node:net')
    const silent = createServer(() => undefined).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = silent.address()
    const port = typeof address === 'object' && address !== null ? address.port : 9
    daemon = await startKsd(home.path, ['--no-socket'], {
      KS_DAEMON_PROVIDERS: JSON.stringify([{ ...provider, baseUrl: `http://127.0.0.1:${port}` }]),
      KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/local/writer',
    })
    const { url } = daemon.ready
    const headers = { authorization: `Bearer ${readCliToken(home.path)}`, 'content-type': 'application/json' }
    const post = async (path: string, body: object) =>
      (await (await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json()) as {
        id: string
      }
    const space = await post('/knowledge-spaces', { name: 'Sea', slug: 'sea' })
    const { id } = await post('/research-tasks', { knowledgeSpaceId: space.id, query: 'What pulls the sea?' })
    const stream = await fetch(`${url}/research-tasks/${id}/events?limit=100`, { headers })
    const reader = stream.body!.getReader()
    const first = new TextDecoder().decode((await reader.read()).value)
    expect(first).toContain('event: research.stage')
    const ending = daemon.end('SIGTERM')
    let rest = first
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      rest += new TextDecoder().decode(value)
    }
    expect(frames(rest).every(({ event }) => event === 'research.stage')).toBe(true)
    expect(await ending).toBe(0)
    silent.close()
  })
})
