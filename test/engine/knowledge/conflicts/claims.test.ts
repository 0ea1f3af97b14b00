import { describe, expect, it } from 'vitest'
import { ClaimIndex } from '../../../../src/engine/knowledge/conflicts/claim-index.js'
import {
  extractClaims,
  packClaims,
  readPassage,
  unpackClaims,
} from '../../../../src/engine/knowledge/conflicts/claims.js'
import { compareClaims, isCopy } from '../../../../src/engine/knowledge/conflicts/compare-claims.js'
import { toBufferPart } from '../../../helpers/bytes.js'

const claims = (text: string, ordinal = 0) =>
  extractClaims(readPassage({ title: '', text })).map((claim) => ({ ...claim, ordinal }))

function compared(one: string, other: string) {
  const [left, right] = [one, other].map((text) => ({ passage: readPassage({ title: '', text }), index: 0 }))
  return left === undefined || right === undefined ? undefined : compareClaims(left, right)
}

const KEPT = 'Backups of mail are kept for 30 days.'
const STORED = 'All backups of mail are stored for 90 days.'

describe('the claims of a passage', () => {
  it('survive packing and unpacking unchanged', () => {
    const passages = [KEPT, '每位读者最多可以借阅五本书，期限为30天。'].map((text, ordinal) => ({
      ordinal,
      claims: claims(text, ordinal),
    }))
    expect(unpackClaims(packClaims(passages))).toEqual(passages.flatMap((passage) => passage.claims))
    expect(passages.every((passage) => passage.claims.length === 1)).toBe(true)
  })

  it('can be unpacked from bytes that are part of a larger buffer, as a database driver returns them', () => {
    const passages = [{ ordinal: 3, claims: claims(KEPT, 3) }]
    expect(unpackClaims(toBufferPart(packClaims(passages)))).toEqual(passages[0].claims)
  })

  it('fail to unpack if their bytes are truncated', () => {
    const bytes = packClaims([{ ordinal: 0, claims: claims(KEPT) }])
    expect(() => unpackClaims(bytes.subarray(0, bytes.length - 4))).toThrow(RangeError)
  })

  it.each([
    'Are backups kept for 30 days?',
    'Form 10-K Summary',
    'Fiscal Year Ended December 31, 2021',
    '| Backups | are kept | 30 days |',
    'Backups were 10, 20 and 30 GB in 2020, 2021 and 2022, respectively.',
    'See pages 45 - 47.',
  ])('do not come from a text without a statement: %s', (text) => {
    expect(claims(text)).toEqual([])
  })
})

describe('the index of claims', () => {
  it('finds claims about the same subject in other documents, but none in the same document', () => {
    const index = new ClaimIndex()
    index.add(1, 1, claims(KEPT))
    index.add(2, 2, claims('The canteen opens at 8 am.'))
    expect(index.candidates(3, 3, claims(STORED)).map(({ other }) => other.version)).toEqual([1])
    expect(index.candidates(3, 1, claims(STORED))).toEqual([])
  })

  it('drops the claims of an earlier version of a document', () => {
    const index = new ClaimIndex()
    index.add(1, 1, claims(KEPT))
    index.add(2, 1, claims('The canteen opens at 8 am.'))
    expect(index.candidates(3, 3, claims(STORED))).toEqual([])
  })

  it('returns at most eight candidates, however many claims share the subject', () => {
    const index = new ClaimIndex()
    const same = claims(KEPT)
    for (let document = 0; document < 6000; document++) index.add(document, document, same)
    expect(index.candidates(9000, 9000, claims(STORED))).toHaveLength(8)
  })
})

describe('two claims', () => {
  it('contradict each other in numbers, dates, denials, opposites and names', () => {
    const kinds = [
      [KEPT, STORED, 'number'],
      ['The town museum was founded in 1902.', 'The town museum was founded in 1911.', 'date'],
      ['The town hall has a lift.', 'The town hall has no lift.', 'negation'],
      ['Smoking is allowed in the yard.', 'Smoking is forbidden in the yard.', 'opposite'],
      ['The billing database is hosted in Dublin.', 'The billing database is hosted in Frankfurt.', 'alternative'],
    ] as const
    expect(kinds.map(([one, other]) => compared(one, other)?.kind)).toEqual(kinds.map(([, , kind]) => kind))
    for (const [one, other] of kinds) expect(compared(one, other)?.relation).toBe('contradiction')
  })

  it('do not contradict each other if their statements are about different days', () => {
    const [one, other] = ['December 31, 2022', 'June 30, 2023'].map(
      (day) => `Our controls were found to be effective at the end of the review as of ${day}.`,
    )
    expect(compared(one ?? '', other ?? '')?.relation).not.toBe('contradiction')
  })

  it('count as copies if they share the same long sentence', () => {
    const long = 'The company reviews the retention of every backup once a year with all of its teams.'
    const claim = (text: string) => ({ passage: readPassage({ title: '', text }), index: 0 })
    expect(isCopy(claim(long), claim(long))).toBe(true)
    expect(isCopy(claim(KEPT), claim(KEPT))).toBe(false)
  })
})
