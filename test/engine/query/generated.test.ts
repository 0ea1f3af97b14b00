import { describe, expect, it } from 'vitest'
import { KsError } from '../../../src/contract/errors.js'
import type { EvidenceItem } from '../../../src/contract/gateway/queries.js'
import { ProviderFailure } from '../../../src/engine/base/provider-failure.js'
import { tokensAtMost } from '../../../src/engine/models/tokens.js'
import type { ChatImage, ChatMessage, GenerationEvent, Generator } from '../../../src/engine/models/types.js'
import { MARK_RULE } from '../../../src/engine/query/answer-mark.js'
import { buildPrompt, citedNumbers, generateAnswer, MAX_ANSWER_TOKENS } from '../../../src/engine/query/generate.js'

const item = (nodeId: string, text: string, conflicts: EvidenceItem['conflicts'] = []): EvidenceItem => ({
  nodeId,
  text,
  score: 1,
  scores: { retrieval: 1, final: 1 },
  freshness: 'fresh',
  citations: [],
  conflicts,
  metadata: { title: `Title of ${nodeId}` },
})
const against = (nodeId: string, reason = 'negation') => ({ nodeId, reason, severity: 'high' as const })
const ITEMS = [item('a', 'The lamp is lit.'), item('b', 'The lamp is dark.'), item('c', 'The tower is high.')]
const contentOf = ({ messages }: { messages: ChatMessage[] }) => JSON.parse(messages.at(-1)?.content ?? '')

describe('what a model is asked', () => {
  it('is the rules, the earlier turns, then passages and question as one value', () => {
    const turns = [
      { query: 'First?', answer: 'One.' },
      { query: 'Second?', answer: 'Two.' },
    ]
    const prompt = buildPrompt(8000, 'Is the lamp lit?', ITEMS, turns)
    expect(prompt.messages.map(({ role, content }) => [role, role === 'system' ? '' : content])).toEqual([
      ['system', ''],
      ['user', 'First?'],
      ['assistant', 'One.'],
      ['user', 'Second?'],
      ['assistant', 'Two.'],
      ['user', expect.any(String)],
    ])
    expect(prompt.messages[0]?.content).toContain(MARK_RULE)
    expect(contentOf(prompt)).toEqual({
      passages: ITEMS.map(({ nodeId, text }, place) => ({ number: place + 1, title: `Title of ${nodeId}`, text })),
      question: 'Is the lamp lit?',
    })
    expect(prompt.messages.at(-1)).not.toHaveProperty('images')
    expect(prompt.given).toEqual({ contextTokens: 8000, passages: 3, cut: 0, leftOut: 0 })
    expect(prompt.maxTokens).toBe(MAX_ANSWER_TOKENS)
  })

  it('ends its rules with those of an application, and shows its images', () => {
    const images = [{ mimeType: 'image/png', base64: 'AAAA', detail: 'auto' } satisfies ChatImage]
    const { messages } = buildPrompt(8000, 'Q?', ITEMS, [], { instructions: 'Be brief.', images, maxTokens: 50 })
    expect(messages[0]?.content).toBe(`${buildPrompt(8000, 'Q?', ITEMS, []).messages[0]?.content}\n\nBe brief.`)
    expect(messages.at(-1)?.images).toEqual(images)
    expect(buildPrompt(8000, 'Q?', ITEMS, [], { maxTokens: 50 }).maxTokens).toBe(50)
  })

  it('names passages that contradict each other, each pair once, and only of those that are given', () => {
    const told = (items: EvidenceItem[], window = 8000) => contentOf(buildPrompt(window, 'Q?', items, []))
    const both = [
      item('a', 'Lit.', [against('b')]),
      item('b', 'Dark.', [against('a'), against('c', 'other')]),
      item('c', 'Grey.'),
    ]
    expect(told(both).contradictions).toEqual([
      { passages: [1, 2], reason: 'negation' },
      { passages: [2, 3], reason: 'other' },
    ])
    expect(told(ITEMS)).not.toHaveProperty('contradictions')
    expect(told([item('a', 'Lit.', [against('gone')])])).not.toHaveProperty('contradictions')
    const long = [item('a', 'Lit. '.repeat(200), [against('b')]), item('b', 'Dark. '.repeat(900), [against('a')])]
    const cut = told(long, 1500)
    expect(cut.passages).toHaveLength(1)
    expect(cut).toMatchObject({ passagesLeftOut: 1 })
    expect(cut).not.toHaveProperty('contradictions')
  })

  it('fits into the window whatever takes part, and says what was cut and left out', () => {
    const text = 'The tide gauge of Brest has been read every hour since the year 1711. '.repeat(20)
    const many = Array.from({ length: 20 }, (_, place) => item(`n${place}`, text))
    const turns = Array.from({ length: 5 }, () => ({ query: 'Earlier?', answer: text }))
    const question = 'Which gauge of which harbour was read? '.repeat(200)
    for (const [window, images] of [
      [4000, 0],
      [4000, 1],
      [12_000, 0],
      [12_000, 3],
    ] as const) {
      const prompt = buildPrompt(window, question, many, turns, {
        images: Array.from({ length: images }, () => ({}) as ChatImage),
      })
      const { passages, cut, leftOut } = prompt.given
      expect(passages + leftOut).toBe(20)
      expect(contentOf(prompt).passages).toHaveLength(passages)
      expect(cut).toBe(contentOf(prompt).passages.filter(({ isCut }: { isCut?: true }) => isCut).length)
      expect(cut).toBeLessThanOrEqual(1)
      if (passages > 1) {
        const asked = prompt.messages.reduce((sum, { content }) => sum + tokensAtMost(content), 0)
        expect(asked + prompt.maxTokens + images * 1000).toBeLessThanOrEqual(window)
      }
      // of a pasted conversation, its end is what is asked
      expect(question.endsWith(contentOf(prompt).question)).toBe(true)
      expect(tokensAtMost(contentOf(prompt).question)).toBeLessThanOrEqual((0.9 * window - prompt.maxTokens) / 2)
    }
    const plain = buildPrompt(8000, 'Q?', many, []).given.passages
    const shown = buildPrompt(8000, 'Q?', many, [], { images: [{} as ChatImage] }).given.passages
    expect(shown).toBeLessThan(plain)
    expect(buildPrompt(8000, 'Q?', many, turns).given.passages).toBeLessThan(plain)
  })
})

describe('an answer of a model', () => {
  const asked: { messages: ChatMessage[]; options: object }[] = []
  const generator = (...replies: (GenerationEvent[] | Error)[]): Generator => {
    asked.length = 0
    return {
      contextTokens: 8000,
      async *generate(messages: ChatMessage[], options: object) {
        asked.push({ messages, options })
        const reply = replies[asked.length - 1]
        if (reply instanceof Error) throw reply
        yield* reply ?? []
      },
    } as unknown as Generator
  }
  const END = { type: 'end', finishReason: 'stop' } satisfies GenerationEvent
  const { signal } = new AbortController()
  const eventsOf = async (from: Generator, style?: object) => {
    const events = []
    for await (const event of generateAnswer(from, 'Q?', ITEMS, [], signal, style)) events.push(event)
    return events
  }

  it('begins with what it is made from, and passes on what is asked of it', async () => {
    const meter = {} as never
    const events = await eventsOf(generator([{ type: 'delta', text: 'Lit [1].' }, END]), {
      ...{ temperature: 0.3, meter, maxTokens: 70 },
    })
    expect(events).toEqual([
      { type: 'given', given: { contextTokens: 8000, passages: 3, cut: 0, leftOut: 0 } },
      { type: 'delta', text: 'Lit [1].' },
      END,
    ])
    expect(asked[0]?.options).toEqual({ maxTokens: 70, signal, temperature: 0.3, meter })
    await eventsOf(generator([{ type: 'delta', text: 'Lit.' }, END]))
    expect(asked[0]?.options).toEqual({ maxTokens: MAX_ANSWER_TOKENS, signal })
  })

  it('has no thoughts in it', async () => {
    const said = [{ type: 'delta', text: '<think>hm</think>Lit.' } as const, END]
    const events = await eventsOf(generator(said))
    expect(events.flatMap((event) => (event.type === 'delta' ? [event.text] : [])).join('')).toBe('Lit.')
  })

  it('is asked for again with half of the window where it was given too much', async () => {
    const failure = new ProviderFailure('context-too-long', 'too long', { status: 400 })
    const tooLong = new KsError('provider-failed', 'too long', { cause: failure })
    const events = await eventsOf(generator(tooLong, [{ type: 'delta', text: 'Lit.' }, END]))
    expect(events.flatMap((event) => (event.type === 'given' ? [event.given.contextTokens] : []))).toEqual([8000, 4000])
    expect(asked).toHaveLength(2)
    await expect(eventsOf(generator(new Error('off')))).rejects.toThrow('off')
  })
})

describe('the passages that an answer cites', () => {
  it('are those of its marks that were given, each once, in their order', () => {
    expect(citedNumbers('It is [3] and [1], so [3].', 3)).toEqual([1, 3])
    expect(citedNumbers('It is [0], [4], [12] and [1990].', 3)).toEqual([])
    expect(citedNumbers('[10] [9] [2]', 10)).toEqual([2, 9, 10])
    expect(citedNumbers('(1) 2 [x]', 3)).toEqual([])
  })
})
