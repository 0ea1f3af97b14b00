import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import stringWidth from 'string-width'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Conversation } from '../../src/kchat/chat/conversation.js'
import { renderEntry } from '../../src/kchat/chat/lines.js'
import { formatStatus } from '../../src/kchat/chat/screen.js'
import { FRAME_MS } from '../../src/kchat/chat/throttle.js'
import { ChatTranscript } from '../../src/kchat/chat/transcript.js'
import { ChatService } from '../../src/kchat/service.js'

const EVENTS = 1000
let server: Server
let url = ''

/** A line without our control sequences. */
const plain = (line: string) => line.replace(/\u001b\[[\d;]*m/g, '')

/** Sends all events of an answer in one burst. */
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

describe('the kchat view of a conversation', () => {
  it('redraws at most 30 times a second, however fast the answer arrives', async () => {
    const chat = new ChatService({ url, token: 'app-x' }, { user: 'me' })
    const conversation = new Conversation(chat, {})
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    let drawn = 0
    conversation.subscribe(() => drawn++)
    await conversation.send('Tell me.')
    expect(drawn).toBe(1)
    vi.advanceTimersByTime(FRAME_MS - 1)
    expect(drawn).toBe(1)
    vi.advanceTimersByTime(1)
    expect(drawn).toBe(2)
    vi.useRealTimers()
    const [, answer] = conversation.getState().entries
    expect(answer?.text.trim().split(' ')).toHaveLength(3 * EVENTS)
    chat.close()
  })

  it('sends messages that arrive together one after the other, in their order', async () => {
    const chat = new ChatService({ url, token: 'app-x' }, { user: 'me' })
    const conversation = new Conversation(chat, {})
    await Promise.all(['one', 'two', 'three'].map((query) => conversation.send(query)))
    const asked = conversation.getState().entries.filter(({ kind }) => kind === 'question')
    expect(asked.map(({ text }) => text)).toEqual(['one', 'two', 'three'])
    expect(conversation.getState().entries).toHaveLength(6)
    chat.close()
  })
})

describe('foreign text in the kchat view', () => {
  const HOSTILE =
    '\u001b]8;;https://evil.test/\u0007click\u001b]8;;\u0007 \u001b[2J\u009b31m \u202egnp.exe \u061c \u2028'
  const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

  it('contains no control characters: in complete and partial answers, sources, questions, notes and errors', () => {
    for (const kind of ['question', 'answer', 'note', 'error'] as const)
      for (const more of [{}, { isGrowing: true as const }]) {
        const entry = {
          kind,
          text: HOSTILE,
          sources: [{ position: 1, name: HOSTILE, section: [HOSTILE] }],
          thought: HOSTILE,
          ...more,
        }
        for (const { text } of renderEntry(entry, 60)) expect(text).not.toMatch(UNSAFE)
      }
  })

  it('contains no control characters in names of the application and its tools', () => {
    const chat = new ChatService({ url, token: 'app-x' }, { user: 'me' })
    const state = new Conversation(chat, {}).getState()
    const shown = formatStatus(
      { ...state, name: HOSTILE, activity: HOSTILE, phase: 'answering' },
      { search: undefined },
      0,
    )
    expect(shown).not.toMatch(UNSAFE)
    expect(shown).toContain('click')
    chat.close()
  })

  it('shows the address of an image or link without fetching it, and definitions unchanged', () => {
    const text = '![x](https://evil.test/?d=SECRET) [a][1]\n\n[1]: https://evil.test/?d=SECRET'
    const lines = renderEntry({ kind: 'answer', text }, 80).map((line) => plain(line.text))
    expect(lines).toEqual([
      '[image: x] (https://evil.test/?d=SECRET) [a][1]',
      '',
      '[1]: https://evil.test/?d=SECRET',
      '',
    ])
  })

  it('contains no control characters in tables, code, addresses and entities of Markdown, partial or complete', () => {
    const text = `| ${HOSTILE} | b |\n|---|---|\n| &#27;[2J | &#x9b;31m |\n\n\`\`\`${HOSTILE}\n${HOSTILE}\n\`\`\`\n\n[a](<https://evil.test/&#27;x>) <b>${HOSTILE}</b>\n`
    const transcript = new ChatTranscript()
    const shown = [...text].flatMap((_, at) => [
      ...transcript.update([{ kind: 'answer', text: text.slice(0, at), isGrowing: true }], 40),
    ])
    shown.push(...transcript.update([{ kind: 'answer', text }], 40), ...transcript.pieces.flatMap(({ lines }) => lines))
    expect(shown.map((line) => plain(line.text)).join('\n')).toContain('https://evil.test/')
    for (const line of shown) expect(plain(line.text)).not.toMatch(UNSAFE)
  })
})

describe('the kchat transcript of a conversation', () => {
  const MARKDOWN = [
    '# Hours of the *shop*',
    '',
    'It **opens** at nine [1],',
    'as `hours.md` says.',
    '',
    '- one',
    '- two is longer',
    '  - below it',
    '',
    '7. seven',
    '8. eight',
    '',
    '```js',
    'const a = 1',
    '',
    '- no list',
    '```',
    '',
    '| Day | Opens |',
    '|---|---:|',
    '| Monday | 9 |',
    '| 火曜日 | 10 |',
    '',
    '> said',
    '> before',
    'Done.',
  ].join('\n')

  it('prints a streamed answer in parts that never change, with the same final lines as the complete answer', () => {
    const whole = renderEntry({ kind: 'answer', text: MARKDOWN }, 60)
    for (const step of [1, 3, 7, 50]) {
      const transcript = new ChatTranscript()
      let before: unknown[] = []
      for (let at = 0; at < MARKDOWN.length; at += step) {
        transcript.update([{ kind: 'answer', text: MARKDOWN.slice(0, at), isGrowing: true }], 60)
        expect(transcript.pieces.slice(0, before.length)).toEqual(before)
        before = [...transcript.pieces]
      }
      if (step === 1) expect(before.length).toBeGreaterThan(5)
      expect(transcript.update([{ kind: 'answer', text: MARKDOWN }], 60)).toEqual([])
      expect(transcript.pieces.flatMap(({ lines }) => lines)).toEqual(whole)
    }
  })

  it('reports a replaced answer, keeps the order of later entries, and fits narrow terminals', () => {
    const transcript = new ChatTranscript()
    const growing = { kind: 'answer', isGrowing: true } as const
    transcript.update([{ ...growing, text: 'one\n\ntwo' }], 30)
    const open = transcript.update(
      [
        { ...growing, text: 'other' },
        { kind: 'note', text: 'a note' },
      ],
      30,
    )
    expect(open.map((line) => line.text)).toEqual(['other', 'a note', ''])
    transcript.update(
      [
        { kind: 'answer', text: 'other' },
        { kind: 'note', text: 'a note' },
      ],
      30,
    )
    const written = transcript.pieces.flatMap(({ lines }) => lines.map((line) => line.text))
    expect(written).toEqual(['one', '', '(the service replaced this answer)', '', 'other', '', 'a note', ''])
    const narrow = renderEntry({ kind: 'answer', text: MARKDOWN }, 20).map((line) => stringWidth(line.text))
    expect(Math.max(...narrow)).toBeLessThanOrEqual(20)
  })

  it('folds the steps of an agent, and shows tokens, price and time', () => {
    const step = { id: 'a', thought: '', tool: 'search;read', input: '{}', observation: 'found' }
    const usage = { tokens: 1204, price: '0.0031', currency: 'USD', seconds: 2.44 }
    const lines = renderEntry({ kind: 'answer', text: 'Nine.', steps: [step, { ...step, id: 'b' }], usage }, 80)
    expect(lines.map((line) => line.text.replace('▸', '>'))).toEqual([
      'Nine.',
      '',
      '> 2 steps: search, read (/steps shows them)',
      '1,204 tokens · 0.0031 USD · 2.4 s',
      '',
    ])
  })
})
