import { describe, expect, it } from 'vitest'
import { countMessageTokens, fitSteps } from '../../../../src/engine/answers/chat/agent/fit-steps.js'
import type { ChatMessage } from '../../../../src/engine/models/types.js'

const call = (id: string) => ({ id, name: 'read', arguments: '{"path":"/sources/a.md"}' })
const long = JSON.stringify({ text: 'The keeper writes the weather into the book. '.repeat(300) })
const steps: ChatMessage[] = [
  { role: 'assistant', content: 'Let me look.', toolCalls: [call('1'), call('2')] },
  { role: 'tool', content: long, toolCallId: '1' },
  { role: 'tool', content: '{"entries":[]}', toolCallId: '2' },
]

describe('the steps of an agent', () => {
  it('stay unchanged when they fit into the window', () => {
    expect(fitSteps(steps, countMessageTokens(steps))).toEqual(steps)
  })

  it('lose the ends of long tool results when they do not fit into the window, and a note states it', () => {
    const fitting = fitSteps(steps, 600)
    expect(countMessageTokens(fitting)).toBeLessThanOrEqual(600)
    expect(fitting.map(({ role, toolCallId }) => [role, toolCallId])).toEqual([
      ['assistant', undefined],
      ['tool', '1'],
      ['tool', '2'],
    ])
    const [, cut, whole] = fitting
    expect(JSON.parse(cut?.content ?? '')).toEqual({
      cut: expect.stringContaining('does not fit'),
      text: expect.stringContaining('The keeper writes'),
    })
    expect(whole?.content).toBe('{"entries":[]}')
  })

  it('keep every call and its result however small the window', () => {
    expect(fitSteps(steps, 0).map(({ toolCallId }) => toolCallId)).toEqual([undefined, '1', '2'])
  })
})
