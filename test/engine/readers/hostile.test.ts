import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listEntryNames, openZip } from '../../../src/engine/readers/archive/zip.js'
import { DEFAULT_LIMITS, ReadError } from '../../../src/engine/readers/limits.js'
import { measureGrowth } from '../../helpers/processor-time.js'
import { makeEpub, makePptx, makeXlsx } from './office.js'
import { failureOf, fixturePath, makeDocx, makeZip, read, wordParagraph } from './read.js'
import { zip64 } from './zip64.js'

const MIB = 1024 * 1024

describe('the reading of archives', () => {
  it('rejects a Word file that inflates to more than 200 times its size', async () => {
    const bomb = makeDocx(wordParagraph('x'), [{ name: 'word/media/a.bin', content: Buffer.alloc(40 * MIB) }])
    expect(bomb.length).toBeLessThan(100_000)
    expect(await failureOf(read('bomb.docx', bomb))).toEqual({
      code: 'limit-exceeded',
      message: 'bomb.docx inflates to more than 200 times its size, which is past the decompression limit',
    })
    expect((await failureOf(read('bomb.txt', bomb))).code).toBe('limit-exceeded')
  })

  it('A34, A36: rejects archives of every office format that inflate too far, whatever their file name', async () => {
    const bomb = { name: 'x/padding.bin', content: Buffer.alloc(40 * MIB) }
    const files = [
      makePptx([{ shapes: '' }], [bomb]),
      makeXlsx([{ name: 'a', rows: '' }], { extra: [bomb] }),
      makeEpub([{ name: 'a', xhtml: '<p>x</p>' }], { extra: [bomb] }),
      makeZip([{ name: 'META-INF/manifest.xml', content: '' }, { name: 'content.xml', content: '' }, bomb]),
    ]
    for (const file of files) expect((await failureOf(read('notes.txt', file))).code).toBe('limit-exceeded')
  })

  it('stops inflating an archive with false claimed sizes at the limit', async () => {
    const body = `${wordParagraph('x')}<!--${' '.repeat(60 * MIB)}-->`
    const honest = makeDocx(body)
    const lying = Buffer.from(honest)
    for (
      let at = lying.indexOf('PK\x01\x02', 0, 'latin1');
      at !== -1;
      at = lying.indexOf('PK\x01\x02', at + 4, 'latin1')
    ) {
      lying.writeUInt32LE(100, at + 24)
    }
    expect((await failureOf(read('liar.docx', lying))).code).toBe('limit-exceeded')
    const small = await failureOf(read('big.docx', honest, { limits: { inflatedBytes: 20 * MIB, inflateRatio: 1e9 } }))
    expect(small.message).toBe('big.docx inflates to more than the limit of 20 MiB')
  })

  it('A35: rejects an archive that has too many entries, is encrypted or has damaged offsets', async () => {
    const parts = Array.from({ length: 50 }, (_, index) => ({ name: `p${index}`, content: 'x' }))
    const many = await failureOf(
      read('many.docx', makeDocx(wordParagraph('x'), parts), { limits: { archiveEntries: 40 } }),
    )
    expect(many).toEqual({ code: 'limit-exceeded', message: 'many.docx has more archive entries than the limit of 40' })
    const locked = makeZip([{ name: 'word/document.xml', content: '<a/>', flags: 1 }])
    expect((await failureOf(read('locked.docx', locked))).code).toBe('encrypted')
    const holes = makeZip([{ name: 'word/document.xml', content: '<a/>' }])
    holes.fill(0, 0, 4)
    holes.write('PK\x03\x04', 0, 'latin1')
    holes.fill(0xff, 48, 52)
    expect((await failureOf(read('holes.docx', holes))).code).toBe('malformed')
  })

  it('lists and inflates the entries of a ZIP archive, and throws a read error for a missing entry', () => {
    const zip = openZip(
      makeZip([
        { name: 'a', content: 'hello' },
        { name: 'b', content: '' },
      ]),
      'x.zip',
      DEFAULT_LIMITS,
    )
    expect([...zip.entries.keys()]).toEqual(['a', 'b'])
    expect(zip.read('a').toString()).toBe('hello')
    expect(() => zip.read('c')).toThrow(ReadError)
  })

  it('reads zip64 archives within the limits of other archives, and rejects false sizes and offsets', async () => {
    const zip = openZip(zip64({ 'word/a.xml': 'hello', b: '' }), 'x.zip', DEFAULT_LIMITS)
    expect([...zip.entries.keys()]).toEqual(['word/a.xml', 'b'])
    expect(zip.read('word/a.xml').toString()).toBe('hello')
    expect([...listEntryNames(zip64({ 'word/a.xml': 'hello', b: '' }), 9)]).toEqual(['word/a.xml', 'b'])
    const open = (archive: Buffer, limits = {}) => openZip(archive, 'x.zip', { ...DEFAULT_LIMITS, ...limits })
    expect(() => open(zip64({ a: 'x', b: 'x' }), { archiveEntries: 1 })).toThrow(
      'more archive entries than the limit of 1',
    )
    expect(() => open(zip64({ a: 'x' }, { claimed: 2n ** 63n }))).toThrow(
      'inflates to more than the limit of 1,024 MiB',
    )
    expect(() => open(zip64({ a: 'x' }, { extra: 4 }))).toThrow('damaged archive directory')
    expect(() => open(zip64({ a: 'x' }, { directory: 2n ** 60n }))).toThrow('damaged archive directory')
    expect(() => open(zip64({ a: 'x' }, { offset: 2n ** 60n })).read('a')).toThrow(
      'not at the offset that the directory states',
    )
  })
})

describe('A37, A41: hostile markup', () => {
  const cases: [string, string, (n: number) => string][] = [
    ['nested divs', 'a.html', (n) => `<html>${'<div>'.repeat(n)}x`],
    ['divs closed as spans', 'a.html', (n) => `<html>${'<div>'.repeat(n)}${'</span>'.repeat(n)}`],
    ['nested tables', 'a.html', (n) => `<html>${'<table><tr><td>a'.repeat(n / 4)}`],
    ['nested lists', 'a.html', (n) => `<html>${'<ul><li>a'.repeat(n / 4)}`],
    ['breaks', 'a.html', (n) => `<html>${'<br> <br>'.repeat(n)}x`],
    ['open scripts', 'a.html', (n) => `<html>${'<script>'.repeat(n)}`],
    ['quotes', 'a.md', (n) => `${'> '.repeat(n)}x`],
    ['brackets', 'a.md', (n) => `${'['.repeat(n)}${']'.repeat(n)}`],
    ['open links', 'a.md', (n) => '[a]('.repeat(n / 4)],
    ['emphasis', 'a.md', (n) => '*a _b **c '.repeat(n / 4)],
    ['backticks', 'a.md', (n) => Array.from({ length: Math.sqrt(n) * 2 }, (_, i) => '`'.repeat(i)).join(' ')],
    ['comments', 'a.md', (n) => '<!-- a\n'.repeat(n)],
    ['fences', 'a.md', (n) => '```\n~~~\n'.repeat(n / 2)],
    ['blanks before a rule', 'a.md', (n) => `a|b\n${' '.repeat(n)}-x`],
    ['fences in quotes', 'a.md', (n) => '> ```\n\n'.repeat(n / 4)],
    ['comments in nested quotes', 'a.md', (n) => `${'> <!--\n> > <!--\n'.repeat(n / 10)}\n-->`],
    ['scripts', 'a.md', (n) => '<script>\n'.repeat(n / 4)],
    ['lists in lists', 'a.md', (n) => `${'- '.repeat(n)}x`],
    [
      'deeper and deeper lists',
      'a.md',
      (n) => Array.from({ length: Math.sqrt(n) }, (_, i) => `${' '.repeat(i * 2)}- a`).join('\n'),
    ],
    ['lazy lines of deep quotes', 'a.md', (n) => `${'> '.repeat(90)}x\n${'y\n'.repeat(n / 4)}`],
    ['pictures in pictures', 'a.md', (n) => `${'!['.repeat(n / 4)}${'](x)'.repeat(n / 4)}`],
    ['one long line of marks', 'a.md', (n) => '**a *b ~~c '.repeat(n / 4)],
    ['open definitions', 'a.md', (n) => '[a]: b "\n'.repeat(n / 4)],
    ['open tags', 'a.md', (n) => '<a b="<'.repeat(n / 4)],
    ['cells beyond the header', 'a.md', (n) => `a|b\n-|-\n${'1|2|3|4\n'.repeat(n / 4)}${'x|'.repeat(n)}`],
    ['short rows of a wide table', 'a.md', (n) => `${'a|'.repeat(300)}\n${'-|'.repeat(300)}\n${'a\n'.repeat(n / 4)}`],
    ['wide tables', 'a.md', (n) => `${'a|'.repeat(n)}\n${'-|'.repeat(n)}`],
    ['nested JSON', 'a.json', (n) => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`],
    ['nested XML', 'a.xml', (n) => `<?xml version="1.0"?>${'<a>t'.repeat(n)}`],
    ['one long line', 'a.txt', (n) => 'x'.repeat(n * 4)],
    ['combining marks', 'a.txt', (n) => `a${'\u0301'.repeat(n)}`],
    ['one row of values', 'a.csv', (n) => '1234567,'.repeat(n * 4)],
    ['open quotes in values', 'a.csv', (n) => '"a,'.repeat(n)],
    ['roles', 'a.rst', (n) => ':a:`b <c '.repeat(n / 4)],
    ['blanks in addresses', 'a.rst', (n) => `\`${' '.repeat(n)}\` ${'`a '.repeat(n / 4)}`],
    ['blanks in headings', 'a.org', (n) => `* a${' '.repeat(n)}:b: x`],
    ['blanks in mail', 'a.eml', (n) => `Content-Transfer-Encoding: quoted-printable\n\n${' '.repeat(n)}x`],
    ['mail parts', 'a.eml', (n) => `Content-Type: multipart/mixed; boundary=x\n\n${'--x\n\na\n'.repeat(n / 4)}`],
    [
      'lines that begin with the boundary',
      'a.eml',
      (n) => `Content-Type: multipart/mixed; boundary=x\n\n--x\n\n${'--xy\n'.repeat(n / 4)}`,
    ],
    [
      'parts in parts',
      'a.eml',
      (n) =>
        Array.from({ length: n / 100 }, (_, i) => `Content-Type: multipart/mixed; boundary=x${i}\n\n--x${i}\n`).join(
          '',
        ),
    ],
    ['messages in messages', 'a.eml', (n) => 'Content-Type: message/rfc822\n\n'.repeat(n / 10)],
    [
      'sections of a file name',
      'a.eml',
      (n) =>
        `Content-Type: text/plain${Array.from({ length: n / 10 }, (_, i) => `; name*${i % 9999}*=a%20`).join('')}\n\nx`,
    ],
    ['open quotes in a header', 'a.eml', (n) => `Content-Type: text/plain; a="${'\\"; b="'.repeat(n / 4)}\n\nx`],
    [
      'encoded words',
      'a.eml',
      (n) => `Subject: ${'=?utf-8?q?a '.repeat(n / 10)}${'=?utf-8?q?a?= '.repeat(n / 10)}\n\nx`,
    ],
    ['marks', 'a.org', (n) => ' *a [[b'.repeat(n / 4)],
  ]

  it.each(cases)('takes linear time to read: %s in %s', { timeout: 120_000 }, async (_label, name, make) => {
    const readOf = (size: number) =>
      read(name, make(size)).catch((error: unknown) => expect(error).toBeInstanceOf(ReadError))
    expect(await measureGrowth(readOf, { size: 100_000, floorMs: 500 })).toMatchObject({ isLinear: true })
  })
})

describe('A44: damaged files', () => {
  it.each([
    'simple.docx',
    'fake-memo.pdf',
    'header-test-doc.pdf',
    'docx-tables.docx',
    'stanley-cups-utf-16.csv',
    'stanley-cups.xlsx',
    'fake.odt',
  ])(
    '%s, truncated or with flipped bits, is read or fails with a read error',
    async (name) => {
      const bytes = readFileSync(fixturePath(name))
      await fc.assert(
        fc.asyncProperty(
          fc.nat(bytes.length),
          fc.array(fc.nat(bytes.length - 1), { maxLength: 20 }),
          async (cut, flips) => {
            const damaged = Buffer.from(bytes)
            for (const at of flips) damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8))
            for (const sample of [bytes.subarray(0, cut), damaged]) {
              const outcome = await read(name, sample).then(
                () => 'read',
                (error: unknown) => error,
              )
              if (outcome !== 'read') expect(outcome).toBeInstanceOf(ReadError)
            }
          },
        ),
        { numRuns: 10 },
      )
    },
    120_000,
  )
})
