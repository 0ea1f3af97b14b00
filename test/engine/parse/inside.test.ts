import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { makeMail, makeTar } from '../documents/inside-files.js'
import { failureOf, makeZip, read, readInside } from './read.js'

const namesOf = async (filename: string, content: Buffer) =>
  Object.keys((await readInside(filename, content)).files).sort()

describe('Files of archives', () => {
  it('have names without a way out of their archive, whatever it calls them', async () => {
    const names = [
      '../../etc/passwd',
      '/root/key',
      'C:\\Users\\ada\\a.txt',
      './b/./c.txt',
      'd/../e.txt',
      '..',
      'f\\..\\..\\g.txt',
    ]
    const expected = ['Users/ada/a.txt', 'b/c.txt', 'd/e.txt', 'etc/passwd', 'f/g.txt', 'root/key', 'unnamed']
    const parts = names.map((name) => ({ name, content: name }))
    expect(await namesOf('a.zip', makeZip(parts))).toEqual(expected)
    expect(await namesOf('a.tar', await makeTar(parts))).toEqual(expected)
  })

  it('that have one name are all there', async () => {
    const parts = ['one', 'two', 'three'].map((content) => ({ name: 'a/b.txt', content }))
    const expected = { 'a/b.txt': 'one', 'a/b (2).txt': 'two', 'a/b (3).txt': 'three' }
    expect((await readInside('a.zip', makeZip(parts))).files).toEqual(expected)
    expect((await readInside('a.tar', await makeTar(parts))).files).toEqual(expected)
  })

  it('have their names in UTF-8, with or without saying so, or in the code page of the first PCs', async () => {
    const latin = makeZip([{ name: 'Gr??e.txt', content: 'x' }])
    for (let at = latin.indexOf('Gr??e'); at !== -1; at = latin.indexOf('Gr??e', at)) latin.set([0x81, 0xe1], at + 2)
    expect(await namesOf('a.zip', latin)).toEqual(['Grüße.txt'])
    expect(await namesOf('a.zip', makeZip([{ name: 'Grüße.txt', content: 'x' }]))).toEqual(['Grüße.txt'])
    expect(await namesOf('a.zip', makeZip([{ name: '日本.txt', content: 'x', flags: 0x800 }]))).toEqual(['日本.txt'])
    expect(await namesOf('a.tar', await makeTar([{ name: 'Grüße.txt', content: 'x' }]))).toEqual(['Grüße.txt'])
  })

  it('are told where they are links, empty or behind a password, and left out where they are hidden', async () => {
    const tar = await makeTar([
      { name: 'passwd', link: '/etc/passwd' },
      { name: 'empty.txt' },
      { name: '.git/config', content: 'x' },
      { name: '__MACOSX/._a.txt', content: 'x' },
      { name: 'a.txt', content: 'words' },
    ])
    const { document, files } = await readInside('a.tar', tar)
    expect(files).toEqual({ 'a.txt': 'words' })
    expect(document.text).toContain('passwd (not read: it is a link to /etc/passwd)')
    expect(document.text).toContain('empty.txt (not read: is empty)')
    expect(document.metadata).toEqual({ containedFiles: 1, unreadFiles: 2, skippedFiles: 2 })
    const locked = { name: 'secret.txt', content: 'x', flags: 1 }
    const half = await readInside('a.zip', makeZip([locked, { name: 'a.txt', content: 'words' }]))
    expect(half.document.text).toContain('secret.txt (not read: it is protected by a password)')
    expect(await failureOf(read('a.zip', makeZip([locked])))).toEqual({
      code: 'encrypted',
      message: 'a.zip is protected by a password',
    })
  })

  it('are told one by one where they are damaged', async () => {
    const zip = makeZip([
      { name: 'good.txt', content: 'words' },
      { name: 'bad.txt', content: 'these are other words' },
    ])
    const packed = deflateRawSync('these are other words', { level: 9 })
    zip[zip.indexOf(packed) + 4] ^= 0xff
    const { document, files } = await readInside('a.zip', zip)
    expect(files).toEqual({ 'good.txt': 'words' })
    expect(document.text).toMatch(/bad\.txt \(not read: a\.zip is damaged/)
  })

  it('A35: are counted, weighed and measured before they fill anything', async () => {
    const many = makeZip(Array.from({ length: 30 }, (_, index) => ({ name: `${index}.txt`, content: 'x' })))
    await expect(readInside('a.zip', many, { limits: { containedFiles: 20 } })).rejects.toThrow('the limit of 20')
    const tar = await makeTar(Array.from({ length: 30 }, (_, index) => ({ name: `${index}.txt`, content: 'x' })))
    await expect(readInside('a.tar', tar, { limits: { containedFiles: 20 } })).rejects.toThrow('the limit of 20')
    const zeros = Buffer.alloc(40 * 1024 * 1024)
    expect(await failureOf(read('a.zip', makeZip([{ name: 'zeros', content: zeros }])))).toMatchObject({
      code: 'limit-exceeded',
    })
    for (const bomb of [gzipSync(zeros), gzipSync(await makeTar([{ name: 'zeros', content: zeros }]))])
      await expect(readInside('a.gz', bomb)).rejects.toMatchObject({ code: 'limit-exceeded' })
    const large = [
      { name: 'large.txt', content: 'x'.repeat(5000) },
      { name: 'a.txt', content: 'words' },
    ]
    for (const [name, archive] of [
      ['a.zip', makeZip(large)],
      ['a.tar', await makeTar(large)],
    ] as const)
      expect((await readInside(name, archive, { limits: { containedBytes: 4000 } })).files).toEqual({
        'a.txt': 'words',
      })
  })

  it('are not read below the deepest level, which is told', async () => {
    const zip = makeZip([{ name: 'a.txt', content: 'words' }])
    expect((await readInside('a.zip', zip, { depth: 4 })).files).toEqual({ 'a.txt': 'words' })
    await expect(readInside('a.zip', zip, { depth: 5 })).rejects.toThrow('lies in too many files within each other')
    const mail = makeMail('Deep', 'Text.', [{ name: 'a.txt', content: 'words' }])
    expect((await readInside('a.eml', mail, { depth: 5 })).document.text).toContain(
      'Attachment: a.txt (not read: lies in too many files within each other)',
    )
  })

  it('are read up to where a tar archive is damaged', async () => {
    const tar = await makeTar([
      { name: 'a.txt', content: 'words' },
      { name: 'b.txt', content: 'more words' },
    ])
    tar.fill(0x37, 1024, 1500)
    const { document, files } = await readInside('a.tar', tar)
    expect(files).toEqual({ 'a.txt': 'words' })
    expect(document.text).toContain('the rest (not read: the archive is damaged')
  })

  it('that only gzip packed have the name that it kept, or that of the archive', async () => {
    expect((await readInside('notes.md.gz', gzipSync('# Words'))).files).toEqual({ 'notes.md': '# Words' })
    const named = Buffer.concat([
      gzipSync('words').subarray(0, 10),
      Buffer.from('old/name.txt\0'),
      gzipSync('words').subarray(10),
    ])
    named[3] = 8
    expect((await readInside('a.gz', named)).files).toEqual({ 'name.txt': 'words' })
    await expect(readInside('a.gz', gzipSync('words and more words').subarray(0, 20))).rejects.toThrow('cut off')
  })
})

describe('Mail', () => {
  it('hands on what was attached, and keeps what it shows', async () => {
    const { document, files } = await readInside(
      'a.eml',
      makeMail('Trip', 'Words of the mail.', [
        { name: 'a.csv', type: 'text/csv', content: 'a,b' },
        { name: '../up.pdf', type: 'application/pdf', content: '%PDF' },
      ]),
    )
    expect(files).toEqual({ 'a.csv': 'a,b', 'up.pdf': '%PDF' })
    expect(document.text.endsWith('Words of the mail.\n\nAttachment: a.csv\n\nAttachment: up.pdf')).toBe(true)
    expect(document.contained?.map(({ mediaType }) => mediaType)).toEqual(['text/csv', 'application/pdf'])
  })

  it('of a mailbox is named by day and subject, without the marks before its lines', async () => {
    const mails = [
      makeMail('=?utf-8?Q?Gr=C3=BC=C3=9Fe?= / all', 'Dear all,\r\n\r\n>From the north\r\nand on.'),
      makeMail('Other', 'From here on it is\n\nFrom me to you, no date.'),
    ]
    const box = mails.map((mail) => `From a@b.c Tue Mar  3 10:00:00 2026\n${mail}\n`).join('\n')
    const { document, files } = await readInside('box', box)
    expect(document.mediaType).toBe('application/mbox')
    expect(Object.keys(files)).toEqual(['2026-03-03 Grüße all.eml', '2026-03-03 Other.eml'])
    expect(files['2026-03-03 Grüße all.eml']).toContain('\r\nFrom the north\r\n')
    expect(files['2026-03-03 Other.eml']).toContain('From me to you')
  })

  it('of a mail that was saved with the line of a mailbox is the mail itself', async () => {
    const saved = `From a@b.c Tue Mar  3 10:00:00 2026\n${makeMail('Trip', 'Words of the mail.')}\n`
    const { document, files } = await readInside('trip.eml', saved)
    expect([document.mediaType, document.title, files]).toEqual(['message/rfc822', 'Trip', {}])
    expect(document.text).toContain('Words of the mail.')
    expect((await readInside('trip.mbox', saved)).document.mediaType).toBe('application/mbox')
  })

  it('is known by its content where its name says nothing, as in a Maildir', async () => {
    const mail = makeMail('Trip', 'Words.')
    expect((await read('cur/1204393283.M12P3.host:2,S', mail)).mediaType).toBe('message/rfc822')
    for (const text of [
      'From: the sea\nTo: the land\nan essay',
      'Subject: words\n\nOnly one header.',
      'From here on it is text.\nDate: none',
      'To: Bob\nSubject: A letter\nCc: Eve\n\nDear Bob,',
    ])
      expect((await read('note', text)).mediaType).toBe('text/plain')
  })
})
