import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KsError } from '../../../src/contract/errors.js'
import { compareNames, parseVirtualPath, toSectionName } from '../../../src/engine/base/virtual-paths.js'

const segment = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map((text) => text.normalize('NFC').replace(/[\u0000-\u001f\u007f-\u009f/]/g, '_'))
  .filter((text) => text !== '.' && text !== '..' && text.isWellFormed())

function codeOf(path: string): string | undefined {
  try {
    parseVirtualPath(path)
    return undefined
  } catch (error) {
    return error instanceof KsError ? error.code : 'other'
  }
}

describe('virtual paths', () => {
  it('parse back into the namespace and segments that were joined', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('sources', 'knowledge', 'evidence', 'workspaces'),
        fc.array(segment, { maxLength: 6 }),
        (namespace, segments) => {
          const path = ['', namespace, ...segments].join('/').normalize('NFC')
          fc.pre(Buffer.byteLength(path) < 1024 && path.split('/').length === segments.length + 2)
          expect(parseVirtualPath(path)).toEqual({ namespace, segments: path.split('/').slice(2), path })
        },
      ),
    )
  })

  it('A25: any text either parses or fails with invalid-request', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('', '/sources/', '/knowledge'), (text, start) => {
        expect([undefined, 'invalid-request']).toContain(codeOf(start + text))
      }),
    )
  })

  it.each([
    ['/', 'must start with one of'],
    ['', 'must start with one of'],
    ['sources', 'must start with one of'],
    ['/sourcesX', 'must start with one of'],
    ['//sources', 'must start with one of'],
    ['/sources//a', 'empty segment'],
    ['/sources/', 'empty segment'],
    ['/sources/a//', 'empty segment'],
    ['/sources/../../etc', '".."'],
    ['/sources/./a', '"."'],
    ['/sources/a\u0000b', 'control character'],
    ['/sources/a\u0085b', 'control character'],
    ['/sources/e\u0301', 'NFC'],
    ['/sources/\ud800', 'unicode'],
    [`/sources/${'é'.repeat(600)}`, '1024 bytes, received 1209'],
  ])('reject %j: %s', (path, reason) => {
    expect(codeOf(path)).toBe('invalid-request')
    expect(() => parseVirtualPath(path)).toThrow(reason)
  })

  it('accept the name made from any section title', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (title) => {
        const name = toSectionName(title)
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(80)
        expect(parseVirtualPath(`/knowledge/documents/d/${name}`).segments).toEqual(['documents', 'd', name])
      }),
    )
    expect(toSectionName(' Input/Output\n today ')).toBe('Input-Output today')
    expect(toSectionName('\u0007')).toBe('untitled')
  })

  it('sort by code point, as the database does', () => {
    expect(['\u{1f600}', '\uff5e', 'b', 'a-b', 'a'].sort(compareNames)).toEqual([
      'a',
      'a-b',
      'b',
      '\uff5e',
      '\u{1f600}',
    ])
  })
})
