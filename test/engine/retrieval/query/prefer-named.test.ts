import { describe, expect, it } from 'vitest'
import { preferNamed } from '../../../../src/engine/retrieval/query/prefer.js'

const document = (doc_key: number, document_title: string, body: string) => {
  return { doc_key, document_title, filename: `${doc_key}.pdf`, title: document_title, body }
}
const PASSAGES = new Map([
  [1, document(1, 'Corning Incorporated · Form 10-K', 'The effective tax rate rose.')],
  [2, document(2, 'Verizon · Form 10-K', 'The effective tax rate fell.')],
  [3, document(3, 'Notes', 'The tax rate of Verizon fell.')],
])
const RANKED = [
  { key: 1, final: 0.9 },
  { key: 3, final: 0.6 },
  { key: 2, final: 0.4 },
]
const order = (query: string) => preferNamed(query, RANKED, PASSAGES).map(({ key, final }) => `${key} ${final}`)

describe('the preference for documents named in a question', () => {
  it('moves passages of the named document or with its name to the front, and reassigns scores by rank', () => {
    expect(order('What was the effective tax rate of Verizon?')).toEqual(['3 0.9', '2 0.6', '1 0.4'])
  })

  it('keeps the order if the question has no name, or if no title contains the name', () => {
    expect(order('What was the effective tax rate of Pfizer?')).toEqual(['1 0.9', '3 0.6', '2 0.4'])
    expect(order('What was the effective tax rate?')).toEqual(['1 0.9', '3 0.6', '2 0.4'])
  })

  it('keeps the order if all titles contain the name', () => {
    const all = new Map([...PASSAGES].map(([key, one]) => [key, { ...one, document_title: 'Verizon · Form 10-Q' }]))
    expect(preferNamed('Who leads Verizon?', RANKED, all).map(({ key }) => key)).toEqual([1, 3, 2])
  })
})
