import { describe, expect, it } from 'vitest'
import {
  lookUpTerm,
  PageIndexBuilder,
  parseProfile,
} from '../../../../../src/engine/knowledge/derived/page-index/build.js'
import { termHash } from '../../../../../src/engine/knowledge/derived/passage.js'
import { toBufferPart } from '../../../../helpers/bytes.js'

describe('the profile of a document in the page index', () => {
  it('counts how often a term occurs, even if its bytes are part of a larger buffer', () => {
    const builder = new PageIndexBuilder('lamps.md')
    builder.add({ key: 1, text: 'oil and oil', section: [], outlineNode: 's1', page: null })
    const { profile } = builder.finish()
    for (const bytes of [profile, toBufferPart(profile)]) {
      const read = parseProfile(bytes)
      expect(lookUpTerm(read, termHash('oil'))).toEqual({ count: 2, named: false })
      expect(lookUpTerm(read, termHash('brass'))).toEqual({ count: 0, named: false })
    }
  })

  it('contains the most frequent terms of a long document, and of equally frequent ones those with the smallest hashes', () => {
    const builder = new PageIndexBuilder('lamps.md')
    const rare = Array.from({ length: 3000 }, (_, index) => `w${index}x`)
    builder.add({
      key: 1,
      text: `oil oil lamp lamp lamp ${rare.join(' ')}`,
      section: [],
      outlineNode: 's1',
      page: null,
    })
    const { hashes, counts } = parseProfile(builder.finish().profile)
    expect(counts.filter((count) => (count & 0x7fff) > 1)).toHaveLength(2)
    const smallest = Int32Array.from(rare, (word) => termHash(word)).sort()
    const once = hashes.filter((_, index) => counts[index] === 1)
    expect([...once]).toEqual([...smallest.subarray(0, once.length)])
    expect(once.length).toBeGreaterThan(90)
  })
})
