import { describe, expect, it } from 'vitest'
import { computeInstructionWeights } from '../../../../../src/engine/retrieval/query/term-weights.js'

const weights = (query: string, terms: string[]) => terms.map(computeInstructionWeights(query))

describe('the weighting of instructions in a query', () => {
  it('lowers terms of sentences after the question that the question does not contain', () => {
    const query = 'What is the quick ratio of Verizon? Give the answer in percent. Use the ratio of the balance sheet.'
    expect(weights(query, ['quick', 'ratio', 'answer', 'percent', 'balanc'])).toEqual([1, 1, 0.3, 0.3, 0.3])
  })

  it('lowers terms of sentences before the question', () => {
    expect(weights('Assume that you are an analyst. What is the margin?', ['analyst', 'margin'])).toEqual([0.3, 1])
  })

  it('lowers terms of a Chinese instruction', () => {
    expect(weights('利润是多少？请用百分比回答。', ['利润', '百分'])).toEqual([1, 0.3])
  })

  it('keeps weight 1 without a question, for questions only, and for terms outside of the query', () => {
    expect(weights('The pump is loud. It leaks.', ['pump', 'leak'])).toEqual([1, 1])
    expect(weights('Who repairs the pump? When does it leak?', ['pump', 'leak', 'other'])).toEqual([1, 1, 1])
    expect(weights('Who repairs it? Answer briefly.', ['other'])).toEqual([1])
  })

  it('keeps weight 1 for the subject if the question consists of stop words', () => {
    expect(weights('The pump leaks oil. What should we do?', ['pump', 'oil'])).toEqual([1, 1])
  })

  it('keeps weight 1 in other paragraphs, such as the previous question of a follow-up', () => {
    expect(weights('How long is it?\n\nleave policy for contractors', ['leav', 'contractor'])).toEqual([1, 1])
    expect(weights('and contractors\n\nHow long is leave?', ['contractor', 'leav'])).toEqual([1, 1])
  })
})
