import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { makeMail, makeTar } from '../library/documents/inside-files.js'
import { failureOf, makeZip, read, readInside } from './read.js'

const namesOf = async (filename: string, content: Buffer) =>
  Object.keys((await readInside(filename, content)).files).sort()

describe('the reading of archives', () => {
  it('removes drives, roots and parent folders from the names of contained files', async () => {
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

  it('keeps files with equal names, and numbers the later ones', async () => {
    const parts = ['one', 'two', 'three'].map((content) => ({ name: 'a/b.txt', content }))
    const expected = { 'a/b.txt': 'one', 'a/b (2).txt': 'two', 'a/b (3).txt': 'three' }
    expect((await readInside('a.zip', makeZip(parts))).files).toEqual(expected)
    expect((await readInside('a.tar', await makeTar(parts))).files).toEqual(expected)
  })

  it('reads file names in UTF-8, with or without the UTF-8 flag, and in code page 437', async () => {
    const latin = makeZip([{ name: 'Gr??e.txt', content: 'x' }])
    for (let at = latin.indexOf('Gr??e'); at !== -1; at = latin.indexOf('Gr??e', at)) latin.set([0x81, 0xe1], at + 2)
    expect(await namesOf('a.zip', latin)).toEqual(['Grüße.txt'])
    expect(await namesOf('a.zip', makeZip([{ name: 'Grüße.txt', content: 'x' }]))).toEqual(['Grüße.txt'])
    expect(await namesOf('a.zip', makeZip([{ name: '日本.txt', content: 'x', flags: 0x800 }]))).toEqual(['日本.txt'])
    expect(await namesOf('a.tar', await makeTar([{ name: 'Grüße.txt', content: 'x' }]))).toEqual(['Grüße.txt'])
  })

  it('lists links, empty and encrypted files with the reason why they are unread, and skips hidden files', async () => {
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

  it('lists a damaged file with the reason, and reads the intact file next to it', async () => {
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

  it('A35: fails above the limits of file count and inflation, and skips a file above the size limit', async () => {
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

  it('stops at the maximum depth of archives and mails within each other, and reports the reason', async () => {
    const zip = makeZip([{ name: 'a.txt', content: 'words' }])
    expect((await readInside('a.zip', zip, { depth: 4 })).files).toEqual({ 'a.txt': 'words' })
    await expect(readInside('a.zip', zip, { depth: 5 })).rejects.toThrow('is nested too deeply')
    const mail = makeMail('Deep', 'Text.', [{ name: 'a.txt', content: 'words' }])
    expect((await readInside('a.eml', mail, { depth: 5 })).document.text).toContain(
      'Attachment: a.txt (not read: is nested too deeply)',
    )
  })

  it('gives the files of a tar archive before its damaged position, and lists the rest as not read', async () => {
    const tar = await makeTar([
      { name: 'a.txt', content: 'words' },
      { name: 'b.txt', content: 'more words' },
    ])
    tar.fill(0x37, 1024, 1500)
    const { document, files } = await readInside('a.tar', tar)
    expect(files).toEqual({ 'a.txt': 'words' })
    expect(document.text).toContain('the rest (not read: the archive is damaged')
  })

  it('names the content of a gzip file by its header or by the file name, and rejects a truncated file', async () => {
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

describe('the reading of mail', () => {
  it('gives attachments as files, and lists them after the text of the mail', async () => {
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

  it('names the mails of a mailbox by date and subject, without the quoting of From lines', async () => {
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

  it('treats one mail below the From line of a mailbox as a mail, unless the extension is mbox', async () => {
    const saved = `From a@b.c Tue Mar  3 10:00:00 2026\n${makeMail('Trip', 'Words of the mail.')}\n`
    const { document, files } = await readInside('trip.eml', saved)
    expect([document.mediaType, document.title, files]).toEqual(['message/rfc822', 'Trip', {}])
    expect(document.text).toContain('Words of the mail.')
    expect((await readInside('trip.mbox', saved)).document.mediaType).toBe('application/mbox')
  })

  it('recognises mail by its content if the name has no extension, as in a Maildir', async () => {
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
