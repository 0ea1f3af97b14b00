import { expect, it } from 'vitest'
import { analyzeDocument } from '../../../src/lib/text/analyze.js'
import { HASH_START, updateHash, WordTable } from '../../../src/lib/text/word-table.js'

const TEXT = 'the lighthouse of the lightship'

function hashOf(word: string): number {
  let hash = HASH_START
  for (let i = 0; i < word.length; i++) hash = updateHash(hash, word.charCodeAt(i))
  return hash
}

it('the word table finds a word at any position of a text, by its characters and not by its hash alone', () => {
  const table = new WordTable<{ is: string }>(64)
  table.set('lighthouse', hashOf('lighthouse'), { is: 'a building' })
  expect(table.get(TEXT, 4, 14, hashOf('lighthouse'))).toEqual({ is: 'a building' })
  expect(table.get(TEXT, 4, 13, hashOf('lighthouse'))).toBeUndefined()
  expect(table.get(TEXT, 22, 31, hashOf('lighthouse'))).toBeUndefined()
})

it('the word table distinguishes words with the same hash', () => {
  const table = new WordTable<{ is: string }>(64)
  for (const word of ['one', 'two', 'six']) table.set(word, 7, { is: word })
  for (const word of ['six', 'one', 'two', 'one']) expect(table.get(word, 0, 3, 7)?.is).toBe(word)
})

it('the word table keeps a frequently used word when many words with the same hash are added', () => {
  const table = new WordTable<{ is: string }>(64)
  table.set('kept', 7, { is: 'kept' })
  for (let i = 0; i < 1000; i++) {
    table.set(`w${i}`, 7, { is: `w${i}` })
    table.get('kept', 0, 4, 7)
  }
  expect(table.get('kept', 0, 4, 7)?.is).toBe('kept')
  expect(table.get('w999', 0, 4, 7)?.is).toBe('w999')
  expect(table.get('w500', 0, 4, 7)).toBeUndefined()
})

it('the terms of a text do not change when other texts are analyzed in between', () => {
  const text = 'Retention of answer traces: 1,577 days, see maxActiveSessionCount and Häuser'
  const first = analyzeDocument(text)
  for (let i = 0; i < 2000; i++) analyzeDocument(Array.from({ length: 100 }, (_, n) => `w${i}x${n * 31}`).join(' '))
  expect(analyzeDocument(text)).toEqual(first)
  expect(first).toContain('1577')
})
