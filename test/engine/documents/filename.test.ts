import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { displayName, provisionalType } from '../../../src/engine/documents/filename.js'

describe('display names', () => {
  it.each([
    ['docs/intro.md', 'docs/intro.md'],
    ['../../etc/passwd', 'etc/passwd'],
    ['C:\\Users\\ada\\notes.txt', 'Users/ada/notes.txt'],
    ['a//b/./c.md', 'a/b/c.md'],
    ['evil\u202Etxt.exe\u0000', 'eviltxt.exe'],
    ['..', 'unnamed'],
    ['', 'unnamed'],
  ])('%j is shown as %j', (given, shown) => {
    expect(displayName(given)).toBe(shown)
  })

  it('never hold parts that a path could climb with, and keep what they are given twice', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (name) => {
        const shown = displayName(name)
        expect(shown.split('/').some((part) => part === '' || part === '.' || part === '..')).toBe(false)
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(1024)
        expect(displayName(shown)).toBe(shown)
      }),
    )
  })
})

describe('the provisional media type', () => {
  it('is the declared one unless that says nothing', () => {
    expect(provisionalType('a.md', 'text/x-custom; charset=utf-8')).toBe('text/x-custom')
    expect(provisionalType('a.md', 'application/octet-stream')).toBe('text/markdown')
    expect(provisionalType('a.md', 'not a type')).toBe('text/markdown')
    expect(provisionalType('a.unknown', undefined)).toBe('application/octet-stream')
  })
})
