import { describe, expect, it } from 'vitest'
import { instructionWeights } from '../../../../src/engine/query/question/instructions.js'

const weights = (query: string, terms: string[]) => terms.map(instructionWeights(query))

describe('weights of the terms of a query', () => {
  it('gives less to terms that only sentences without a question contain', () => {
    const query = 'What is the quick ratio of Verizon? Give the answer in percent. Use the ratio of the balance sheet.'
    expect(weights(query, ['quick', 'ratio', 'answer', 'percent', 'balanc'])).toEqual([1, 1, 0.3, 0.3, 0.3])
  })

  it('gives less to what precedes the question, and to what surrounds a Chinese one', () => {
    expect(weights('Assume that you are an analyst. What is the margin?', ['analyst', 'margin'])).toEqual([0.3, 1])
    expect(instructionWeights('利润是多少？请用百分比回答。')('利润')).toBe(1)
  })

  it('gives all terms the same in a query without a question, and in one of questions alone', () => {
    expect(weights('The pump is loud. It leaks.', ['pump', 'leak'])).toEqual([1, 1])
    expect(weights('Who repairs the pump? When does it leak?', ['pump', 'leak'])).toEqual([1, 1])
  })
})
