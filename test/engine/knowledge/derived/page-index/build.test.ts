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
})
