import { describe, expect, it } from 'vitest'
import { buildRepairMessages, parseJsonReply } from '../../../src/engine/models/structured.js'

const modeOf = (value: unknown) => (value as { mode?: string } | null)?.mode

describe('the JSON in the reply of a model', () => {
  it.each([
    '{"mode":"deep"}',
    '```json\n{"mode":"deep"}\n```',
    'Sure! Here it is:\n```\n{"mode": "deep"}\n```\nAnything else?',
    'The mode is {"mode": "deep"}, since it joins facts.',
    '<think>{"mode":"fast"}?</think>{"mode":"deep"}',
    '{"mode":"deep",}',
    'Well: {"mode":"deep","why":"a } in {quotes} \\" too"} it is',
  ])('can be extracted from %j', (reply) => {
    expect(parseJsonReply(reply, modeOf, 'a mode')).toEqual({ value: 'deep' })
  })

  it.each([
    ['deep', 'the reply holds no JSON'],
    ['{"mood":"deep"}', 'the JSON is not a mode'],
    ['{"mode":"deep"', /^the JSON cannot be parsed: /],
  ])('gives a problem if it is missing or wrong: %j', (reply, problem) => {
    const reading = parseJsonReply(reply, modeOf, 'a mode')
    expect(reading).toEqual({ problem: typeof problem === 'string' ? problem : expect.stringMatching(problem) })
  })

  it('leads, if it is wrong, to a second request with the reply and its problem', () => {
    const asked = [{ role: 'user' as const, content: 'Which?' }]
    expect(
      buildRepairMessages(asked, '<think>hm</think>', 'the reply holds no JSON').map(({ content }) => content),
    ).toEqual(['Which?', '(nothing)', expect.stringContaining('the reply holds no JSON')])
  })
})
