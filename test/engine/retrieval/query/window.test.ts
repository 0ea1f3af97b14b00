import { describe, expect, it } from 'vitest'
import type { EvidenceItem } from '../../../../src/contract/gateway/queries.js'
import { estimateMaxTokens } from '../../../../src/engine/models/tokens.js'
import { buildPrompt } from '../../../../src/engine/retrieval/query/generate.js'

const SENTENCE = 'The tide gauge of Brest has been read every hour since the year 1711. '
const CHINESE = '布雷斯特的验潮仪自一七一一年以来每小时读数一次。'

const itemOf = (text: string, place: number): EvidenceItem => ({
  nodeId: `n${place}`,
  text,
  score: 1,
  scores: { retrieval: 1, final: 1 },
  freshness: 'fresh',
  citations: [],
  conflicts: [],
  metadata: { title: `Part ${place}`, documentTitle: 'Tides', filename: 'tides.md' },
})
const items = (count: number, text: string) =>
  Array.from({ length: count }, (_, place) => itemOf(`${place} ${text}`, place + 1))

function prompt(
  window: number,
  given: EvidenceItem[],
  more: Partial<{ query: string; turns: number; text: string }> = {},
) {
  const { query = 'How long?', turns = 0, text = 'Ask.' } = more
  const before = Array.from({ length: turns }, (_, at) => ({ query: `${at} ${text}`, answer: text }))
  const made = buildPrompt(window, query, given, { turns: before })
  const tokens = made.messages.reduce((sum, { content }) => sum + estimateMaxTokens(content), 0)
  const content = made.messages.at(-1)?.content ?? ''
  const passages = [...content.matchAll(/<source \d+>\n[\s\S]*?\n\n([\s\S]*?)( …)?\n<\/source/g)].map(
    ([, body = '', cut]) => ({ text: body, isCut: cut !== undefined }),
  )
  return { ...made, tokens, asked: { passages, question: content.split('\n\nQuestion: ').at(-1) ?? '' } }
}

describe('the prompt for an answer', () => {
  it.each([
    [2048, SENTENCE],
    [8192, SENTENCE],
    [8192, CHINESE],
    [131_072, SENTENCE],
  ])(
    'leaves space for the answer in a window of %i tokens, and fills the rest with long passages',
    (window, sentence) => {
      const { tokens, maxTokens, given } = prompt(window, items(50, sentence.repeat(80)))
      expect(tokens + maxTokens).toBeLessThanOrEqual(window)
      if (given.leftOut > 0) expect(tokens + maxTokens).toBeGreaterThan(0.7 * window)
      expect(given.passages + given.leftOut).toBe(50)
    },
  )

  it('takes passages by rank, truncates the last one after a sentence, and reports it', () => {
    const { asked, given } = prompt(4096, items(9, SENTENCE.repeat(40)))
    expect(asked.passages.map(({ isCut }) => isCut)).toEqual([
      ...Array<boolean>(asked.passages.length - 1).fill(false),
      true,
    ])
    const last = asked.passages.at(-1)?.text ?? ''
    expect(last.length).toBeLessThan(SENTENCE.length * 40)
    expect(last).toMatch(/1711\.$/)
    expect(given).toEqual({
      contextTokens: 4096,
      passages: asked.passages.length,
      cut: 1,
      leftOut: 9 - asked.passages.length,
    })
  })

  it('contains some text of the best passage for any window', () => {
    const { asked } = prompt(1024, items(3, 'word '.repeat(4000)), { query: 'long '.repeat(3000), turns: 30 })
    expect(asked.passages[0]?.text.length).toBeGreaterThan(100)
    expect(asked.question).not.toBe('')
  })

  it('keeps the latest turns, and the end of a question that is too long', () => {
    const { messages, asked, tokens } = prompt(4096, items(1, SENTENCE), {
      turns: 20,
      text: SENTENCE.repeat(3),
      query: `${SENTENCE.repeat(300)}How old is it?`,
    })
    expect(asked.question).toMatch(/How old is it\?$/)
    expect(messages.at(-3)?.content).toContain('19 The tide')
    expect(messages.length).toBeLessThan(42)
    expect(tokens).toBeLessThan(4096)
  })
})
