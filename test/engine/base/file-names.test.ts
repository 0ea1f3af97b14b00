import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/contract/limits.js'
import { getProvisionalMediaType, toStoredName, toVirtualName } from '../../../src/engine/base/file-names.js'
import { parseVirtualPath } from '../../../src/engine/base/virtual-paths.js'

/** A path segment that a file system accepts. */
const part = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('a', 'e', '\u0301', '\u00e9', ' ', '.', '\\', '\t', '\u202e', '~', ':'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
    minLength: 1,
    maxLength: 6,
  })
  .filter((text) => text.isWellFormed() && !/[/\u0000]/.test(text) && text !== '.' && text !== '..')
const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))

describe('the name under which a file is stored', () => {
  it.each([
    ['docs/intro.md', 'docs/intro.md'],
    ['../../etc/passwd', 'etc/passwd'],
    ['C:\\Users\\ada\\notes.txt', 'C:\\Users\\ada\\notes.txt'],
    ['a//b/./c.md', 'a/b/c.md'],
    ['a\u0000b', 'ab'],
    ['..', 'unnamed'],
    ['', 'unnamed'],
  ])('for %j is %j', (given, kept) => {
    expect(toStoredName(given)).toBe(kept)
  })

  it('equals the given name, code point for code point, if that is a valid file system path', () => {
    fc.assert(
      fc.property(path, (name) => {
        expect(toStoredName(name)).toBe(name)
      }),
      { numRuns: 2000 },
    )
  })

  it('A26: never contains segments that could leave the folder, and does not change when it is converted again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (name) => {
        const kept = toStoredName(name)
        expect(kept.split('/').some((piece) => piece === '' || piece === '.' || piece === '..')).toBe(false)
        expect(toStoredName(kept)).toBe(kept)
      }),
    )
  })
})

describe('virtual names of files', () => {
  it('form valid virtual paths and do not change when they are converted again', () => {
    fc.assert(
      fc.property(fc.oneof(path, fc.string({ unit: 'binary', maxLength: 1024 }).map(toStoredName)), (name) => {
        const shown = toVirtualName(name)
        const whole = `/sources/uploads/${shown}`
        expect(parseVirtualPath(whole).path).toBe(whole)
        expect(toVirtualName(shown)).toBe(shown)
      }),
      { numRuns: 2000 },
    )
    expect(toVirtualName('docs/a\\b \u202e.md')).toBe('docs/a\\b \u202e.md')
    expect(toVirtualName('a\tb\u0085.md')).toBe('a\u2409b\ufffd.md')
    expect(toVirtualName('a\u007fb')).toBe('a\u2421b')
  })

  it('drop the first folders of a path that is too long, and the end of a long name', () => {
    const folders = Array.from({ length: 40 }, (_, n) => `${n}`.padStart(2, '0').padEnd(50, 'x'))
    const shown = toVirtualName([...folders, 'file.md'].join('/'))
    const kept = shown.split('/')
    expect([...folders, 'file.md'].slice(-kept.length)).toEqual(kept)
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(LIMITS.filename - 255)
    // One more folder would exceed the limit.
    expect(Buffer.byteLength(shown) + 51).toBeGreaterThan(LIMITS.filename - 255)
    expect(toVirtualName('y'.repeat(300))).toBe('y'.repeat(255))
  })
})

describe('the provisional media type', () => {
  it('equals the declared type unless that is missing, invalid or generic', () => {
    expect(getProvisionalMediaType('a.md', 'text/x-custom; charset=utf-8')).toBe('text/x-custom')
    expect(getProvisionalMediaType('a.md', 'application/octet-stream')).toBe('text/markdown')
    expect(getProvisionalMediaType('a.md', 'not a type')).toBe('text/markdown')
    expect(getProvisionalMediaType('a.unknown', undefined)).toBe('application/octet-stream')
    expect(getProvisionalMediaType('A.MD', ' Text/Plain ')).toBe('text/plain')
  })

  it.each([
    ['text/markdown', ['.md', '.markdown', '.MD']],
    ['text/plain', ['.txt', '.text', '.log']],
    ['text/x-rst', ['.rst']],
    ['text/x-org', ['.org']],
    ['text/html', ['.html', '.htm']],
    ['application/xml', ['.xml']],
    ['application/json', ['.json']],
    ['application/x-ndjson', ['.jsonl', '.ndjson']],
    ['application/yaml', ['.yaml', '.yml']],
    ['text/csv', ['.csv']],
    ['text/tab-separated-values', ['.tsv']],
    ['application/pdf', ['.pdf']],
    ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', ['.docx']],
    ['application/vnd.openxmlformats-officedocument.presentationml.presentation', ['.pptx']],
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', ['.xlsx']],
    ['application/vnd.ms-excel', ['.xls']],
    ['application/vnd.oasis.opendocument.text', ['.odt']],
    ['application/vnd.oasis.opendocument.presentation', ['.odp']],
    ['application/vnd.oasis.opendocument.spreadsheet', ['.ods']],
    ['application/epub+zip', ['.epub']],
    ['application/rtf', ['.rtf']],
    ['application/vnd.ms-outlook', ['.msg']],
  ])('%s follows from the endings %j', (type, endings) => {
    for (const ending of endings) expect(getProvisionalMediaType(`folder.of/some.file${ending}`, undefined)).toBe(type)
  })
})
