import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  encodeFrame,
  type OpenEventStream,
  openEventStream,
  type StreamFrame,
  type StreamFraming,
} from '../../src/daemon/http/event-stream.js'
import { until } from '../helpers/until.js'

const interrupted = (reason: string): StreamFrame => ({ event: 'answer.error', data: { error: reason } })

function open(frames: AsyncIterable<StreamFrame>, check?: (frame: StreamFrame) => void, framing?: StreamFraming) {
  const told = { abandoned: 0, closed: 0, error: undefined as unknown }
  const stream = openEventStream(
    { headers: {}, frames, interrupted },
    {
      ...(check === undefined ? {} : { check }),
      ...(framing === undefined ? {} : { framing }),
      abandon: () => {
        told.abandoned++
      },
      closed: (error) => {
        told.closed++
        told.error = error
      },
    },
  )
  return { stream, told }
}

async function* deltas(count: number): AsyncGenerator<StreamFrame> {
  for (let index = 0; index < count; index++) yield { event: 'answer.delta', data: { delta: `${index}\n` } }
}

/** The events that a parser of the event stream grammar (WHATWG HTML, 9.2.6) finds in a text. */
function parse(text: string): { event: string; data: string; id: string }[] {
  const found: { event: string; data: string; id: string }[] = []
  let current = { event: 'message', data: [] as string[], id: '' }
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') {
      if (current.data.length > 0) found.push({ event: current.event, data: current.data.join('\n'), id: current.id })
      current = { event: 'message', data: [], id: '' }
    } else if (!line.startsWith(':')) {
      const colon = line.indexOf(':')
      const name = colon === -1 ? line : line.slice(0, colon)
      const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
      if (name === 'event') current.event = value
      if (name === 'data') current.data.push(value)
      if (name === 'id') current.id = value
    }
  }
  return found
}

describe('an encoded frame', () => {
  test('A71: parses as exactly one event, whatever text it contains', () => {
    const nasty = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\n\nevent: answer.done\ndata: {}\n\n',
        '\r\rdata: x',
        '\u2028\u2029',
        ': ping\n\n',
        '\u0000',
        '\ud800',
      ),
    )
    fc.assert(
      fc.property(nasty, nasty, (delta, id) => {
        const text = Buffer.from(encodeFrame({ event: 'answer.delta', data: { delta }, id })).toString('utf8')
        const [frame, ...more] = parse(text)
        expect(more).toEqual([])
        expect(frame?.event).toBe('answer.delta')
        expect(JSON.parse(frame?.data ?? '')).toEqual({ delta })
      }),
    )
  })
})

describe('an event stream', () => {
  test('sends every frame and ends', async () => {
    const { stream, told } = open(deltas(3))
    const frames = parse(await new Response(stream.body).text())
    expect(frames.map(({ data }) => JSON.parse(data).delta)).toEqual(['0\n', '1\n', '2\n'])
    expect(told).toEqual({ abandoned: 0, closed: 1, error: undefined })
  })

  test('reports a failure in its last frame, without details', async () => {
    async function* failing(): AsyncGenerator<StreamFrame> {
      yield* deltas(1)
      throw new Error('secret detail')
    }
    const { stream, told } = open(failing())
    const text = await new Response(stream.body).text()
    expect(parse(text).at(-1)).toMatchObject({
      event: 'answer.error',
      data: '{"error":"the answer could not be completed"}',
    })
    expect(text).not.toContain('secret detail')
    expect(told).toMatchObject({ closed: 1, error: new Error('secret detail') })
  })

  test('refuses to send an undocumented event', async () => {
    const { stream, told } = open(deltas(1), ({ event }) => {
      if (event !== 'answer.error') throw new Error('undeclared')
    })
    expect(parse(await new Response(stream.body).text())).toMatchObject([{ event: 'answer.error' }])
    expect(told.error).toEqual(new Error('undeclared'))
  })

  test('requests the next frame only after the client has read the previous frame', async () => {
    let asked = 0
    async function* counted(): AsyncGenerator<StreamFrame> {
      for (;;) {
        asked++
        yield { event: 'answer.delta', data: { delta: 'x' } }
      }
    }
    const { stream, told } = open(counted())
    const reader = stream.body.getReader()
    await reader.read()
    // No further frame is requested meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(asked).toBeLessThanOrEqual(3)
    await reader.cancel()
    expect(told).toMatchObject({ abandoned: 1, closed: 1 })
  })

  test('ends with an error frame if the daemon ends it early', async () => {
    let ask = () => {}
    const pulled = new Promise<void>((resolve) => {
      ask = resolve
    })
    async function* waiting(): AsyncGenerator<StreamFrame> {
      yield* deltas(1)
      ask()
      await new Promise(() => {})
    }
    const { stream, told } = open(waiting())
    const text = new Response(stream.body).text()
    await pulled
    stream.cut('the daemon is stopping')
    stream.cut('again')
    expect(parse(await text).map(({ event }) => event)).toEqual(['answer.delta', 'answer.error'])
    expect(told).toMatchObject({ abandoned: 1, closed: 1 })
  })
})

describe('an event stream over time', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  async function* silent(): AsyncGenerator<StreamFrame> {
    await new Promise(() => {})
    yield* deltas(1)
  }

  test('sends a comment every 15 seconds while it is silent', async () => {
    const { stream } = open(silent())
    const reader = stream.body.getReader()
    const first = reader.read()
    vi.advanceTimersByTime(15_000)
    expect(Buffer.from((await first).value ?? []).toString()).toBe(': ping\n\n')
    const second = reader.read()
    vi.advanceTimersByTime(15_000)
    expect(Buffer.from((await second).value ?? []).toString()).toBe(': ping\n\n')
    await reader.cancel()
  })

  test('sends pings at a fixed interval, even between frames', async () => {
    let next = () => {}
    async function* busy(): AsyncGenerator<StreamFrame> {
      for (;;) {
        await new Promise<void>((resolve) => {
          next = resolve
        })
        yield { event: 'message', data: 1 }
      }
    }
    const bytes = (text: string) => new TextEncoder().encode(text)
    const framing: StreamFraming = { encode: () => bytes('m'), ping: () => bytes('p'), pingMs: 10_000, isSteady: true }
    const { stream } = open(busy(), undefined, framing)
    const reader = stream.body.getReader()
    let seen = ''
    const reading = (async () => {
      for (let read = await reader.read(); !read.done; read = await reader.read())
        seen += Buffer.from(read.value).toString()
    })()
    for (let second = 0; second < 41; second++) {
      await new Promise((resolve) => setImmediate(resolve))
      next()
      await new Promise((resolve) => setImmediate(resolve))
      vi.advanceTimersByTime(1000)
    }
    expect(seen.replace(/m+/g, 'm')).toBe('mpmpmpmpm')
    await reader.cancel()
    await reading
  })

  test('F48: closes if the client does not read for a minute', async () => {
    const { stream, told } = open(deltas(1_000))
    await new Promise((resolve) => setImmediate(resolve))
    vi.advanceTimersByTime(75_000)
    expect(told).toMatchObject({ abandoned: 1, closed: 1, error: new Error('the client stopped reading') })
    await expect(stream.body.getReader().read()).rejects.toThrow('stopped reading')
  })
})

describe('an event stream over a socket', () => {
  let server: Server
  let opened: { stream: OpenEventStream; told: { abandoned: number; closed: number } } | undefined

  const serve = async (frames: () => AsyncIterable<StreamFrame>) => {
    server = createServer(
      getRequestListener(() => {
        opened = open(frames())
        return new Response(opened.stream.body, { headers: { 'content-type': 'text/event-stream' } })
      }),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nhost: 127.0.0.1:1\r\ncontent-length: 0\r\n\r\n')
    return socket
  }
  afterEach(() => {
    server.closeAllConnections()
    server.close()
  })

  test('sends headers and frames without delay', async () => {
    async function* slow(): AsyncGenerator<StreamFrame> {
      yield* deltas(1)
      await new Promise(() => {})
    }
    const socket = await serve(slow)
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    await until(() => text.includes('answer.delta'))
    socket.destroy()
  })

  test('F45: notices at once when the client disconnects', async () => {
    async function* forever(): AsyncGenerator<StreamFrame> {
      yield* deltas(1)
      await new Promise(() => {})
    }
    const socket = await serve(forever)
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    await until(() => opened?.told.abandoned === 1)
  })
})
