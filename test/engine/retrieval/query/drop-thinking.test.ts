import { describe, expect, it } from 'vitest'
import type { GenerationEvent } from '../../../../src/engine/models/types.js'
import { dropThinking } from '../../../../src/engine/retrieval/query/generate.js'

async function* saying(...pieces: string[]): AsyncGenerator<GenerationEvent> {
  for (const text of pieces) yield { type: 'delta', text }
  yield { type: 'end' } as GenerationEvent
}

async function collect(...pieces: string[]) {
  const texts: string[] = []
  let ends = 0
  for await (const event of dropThinking(saying(...pieces)))
    if (event.type === 'delta') texts.push(event.text)
    else ends++
  return { texts, text: texts.join(''), ends }
}

describe('the output of a model that may think first', () => {
  it('passes through chunk by chunk, with its end event', async () => {
    expect(await collect('The lamp', ' is ', 'lit.')).toEqual({
      texts: ['The lamp', ' is ', 'lit.'],
      text: 'The lamp is lit.',
      ends: 1,
    })
  })

  it.each([
    [['<think>hm</think>It is lit.']],
    [['<th', 'ink>h', 'm</thi', 'nk>', 'It is lit.']],
    [['  \n<think>one</think>\n<think>two</think>\n\nIt is lit.']],
    [['<think>', 'a < b and <b>', 'x'.repeat(5000), '</think> ', 'It is', ' lit.']],
    [['<think></think>It is lit.']],
  ])('loses the thoughts before the answer: %j', async (pieces) => {
    expect((await collect(...pieces)).text).toBe('It is lit.')
  })

  it('does not depend on how the stream is chunked', async () => {
    const rawOutput = ' <think>one </think> <think>two</think>The <think> tag is no thought here.'
    for (let size = 1; size < rawOutput.length; size++) {
      const pieces: string[] = []
      for (let at = 0; at < rawOutput.length; at += size) pieces.push(rawOutput.slice(at, at + size))
      expect((await collect(...pieces)).text, `pieces of ${size}`).toBe('The <think> tag is no thought here.')
    }
  })

  it('keeps a tag that only begins like <think>', async () => {
    expect((await collect('<thin', 'g> is a tag.')).text).toBe('<thing> is a tag.')
  })

  it.each([[[]], [['']], [['  \n', ' ']], [['<think>only thoughts</think>', ' \n']], [['<think>no end']], [['<thi']]])(
    'fails with provider-failed, and nothing passes through, if it has no text besides thoughts: %j',
    async (pieces) => {
      const out: GenerationEvent[] = []
      const read = async () => {
        for await (const event of dropThinking(saying(...pieces))) out.push(event)
      }
      await expect(read()).rejects.toMatchObject({ code: 'provider-failed' })
      expect(out).toEqual([])
    },
  )
})
