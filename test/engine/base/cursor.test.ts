import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeCursor, encodeCursor, hashFilter } from '../../../src/engine/base/cursor.js'

const places = fc.array(fc.oneof(fc.string(), fc.integer()), { minLength: 1, maxLength: 3 })

describe('A16: opaque cursors', () => {
  it('decode to the position and publication that were encoded', () => {
    fc.assert(
      fc.property(places, fc.option(fc.uuid(), { nil: undefined }), (after, publication) => {
        const state = publication === undefined ? { after } : { after, publication }
        expect(decodeCursor(encodeCursor(state, 'filter'), 'filter')).toEqual(state)
      }),
    )
  })

  it('fail to decode with a filter other than the one they were made for', () => {
    const cursor = encodeCursor({ after: ['a'] }, hashFilter('spaces', 'tenant-a'))
    expect(() => decodeCursor(cursor, hashFilter('spaces', 'tenant-b'))).toThrow(/cursor is not one/)
  })

  it('fail to decode after any character was changed, removed or added', () => {
    const cursor = encodeCursor({ after: ['018f22aa-0000-7000-8000-000000000000'] }, 'f')
    fc.assert(
      fc.property(fc.nat(cursor.length - 1), fc.constantFrom(...'ABCxyz019-_'), (at, char) => {
        fc.pre(cursor[at] !== char)
        const changed = cursor.slice(0, at) + char + cursor.slice(at + 1)
        expect(() => decodeCursor(changed, 'f')).toThrow(/cursor is not one/)
      }),
    )
    expect(() => decodeCursor(cursor.slice(0, -3), 'f')).toThrow(/cursor/)
    // Lenient decoders of base64url and JSON would ignore these changes.
    for (const length of [1, 2, 3]) {
      const other = encodeCursor({ after: ['a'.repeat(length)] }, 'f')
      const spaced = Buffer.from(` ${Buffer.from(other, 'base64url').toString()}`).toString('base64url')
      for (const same of [`${other}A`, `${other}=`, `${other}\n`, ` ${other}`, `${other}!`, `${other}.`, spaced])
        expect(() => decodeCursor(same, 'f')).toThrow(/cursor/)
      expect(decodeCursor(other, 'f')).toEqual({ after: ['a'.repeat(length)] })
    }
    expect(() => decodeCursor('', 'f')).toThrow(/cursor/)
    expect(() => decodeCursor('%%%', 'f')).toThrow(/cursor/)
  })
})
