import { CFB } from '@e965/xlsx'
import iconv from 'iconv-lite'
import { describe, expect, it } from 'vitest'
import { read } from './read.js'

const SENTENCES = {
  turkish: 'Bugün limanın yıllık bütçesi görüşüldü. Park ücreti saatte otuz liradır, çünkü yağmur yağıyor.',
  russian: 'Сегодня вечером мы поедем на море, потому что завтра будет хорошая погода.',
  polish: 'Dziś wieczorem pojedziemy nad morze, ponieważ jutro będzie ładna pogoda i słońce.',
  greek: 'Σήμερα το βράδυ θα πάμε στη θάλασσα, γιατί αύριο θα κάνει καλό καιρό.',
  german: 'Heute Abend fahren wir über die Brücke nach Köln, weil es morgen schön wird.',
  japanese: '今日の夕方、私たちは海へ行きます。明日は天気が良いからです。',
}

describe('encodings', () => {
  it.each([
    ['windows-1254', 'turkish'],
    ['windows-1251', 'russian'],
    ['koi8-r', 'russian'],
    ['cp866', 'russian'],
    ['windows-1250', 'polish'],
    ['windows-1253', 'greek'],
    ['windows-1252', 'german'],
    ['macroman', 'german'],
    ['cp850', 'german'],
    ['shift_jis', 'japanese'],
    ['euc-jp', 'japanese'],
    ['utf-16le', 'russian'],
  ] as const)('text in %s without a declaration is decoded (%s)', async (encoding, language) => {
    const text = SENTENCES[language]
    expect((await read('a.txt', iconv.encode(text, encoding))).text).toBe(text)
  })

  it('short Western texts are decoded as Windows-1252', async () => {
    for (const text of ['naïve', 'Café', '5 £', '“Hello” it’s', 'été à Paris'])
      expect((await read('a.txt', iconv.encode(text, 'windows-1252'))).text).toBe(text)
  })

  it('English texts with a few accents and signs are not taken for encodings of DOS', async () => {
    const words = 'The harbour opens at nine and the ferries sail every hour until the evening. '.repeat(5)
    for (const signs of ['café', '5–6 °C', '6½', '© Müller', '£5 for “two”'])
      expect((await read('a.txt', iconv.encode(`${words}${signs} ${words}${signs}`, 'windows-1252'))).text).toBe(
        `${words}${signs} ${words}${signs}`,
      )
  })

  it('subtitles, values separated by semicolons and pages are decoded like other texts', async () => {
    const srt =
      '1\n00:00:01,000 --> 00:00:03,000\nKış geldi, ışıklar söndü.\n\n2\n00:00:04,000 --> 00:00:06,000\nŞimdi eve dönüyoruz.\n'
    expect((await read('a.srt', iconv.encode(srt, 'windows-1254'))).text).toContain('Kış geldi, ışıklar söndü.')
    const csv = 'Ürün;Fiyat;Şehir\nıspanak;12,5;İzmir\nşeker;30,0;Muğla\n'
    expect((await read('a.csv', iconv.encode(csv, 'windows-1254'))).text).toContain('ıspanak | 12,5 | İzmir')
  })

  it.each([
    ['a.html', '<meta charset="iso-8859-7"><p>αβγ</p>', 'iso-8859-7', 'αβγ'],
    ['a.xml', '<?xml version="1.0" encoding="windows-1251"?><a><b>Да</b></a>', 'windows-1251', 'Да'],
    [
      'a.tex',
      '\\documentclass{article}\n\\usepackage[latin5]{inputenc}\n\\begin{document}İş\\end{document}',
      'windows-1254',
      'İş',
    ],
    ['a.py', '#!/usr/bin/python\n# -*- coding: cp1250 -*-\nx = "łąka"\n', 'windows-1250', 'łąka'],
    ['a.css', '@charset "windows-1254";\n/* ışık */\n', 'windows-1254', 'ışık'],
  ])('the charset that %s declares counts', async (name, text, encoding, words) => {
    expect((await read(name, iconv.encode(text, encoding))).text).toContain(words)
  })

  it('a declaration that the bytes contradict does not count', async () => {
    const bytes = iconv.encode(`<meta charset="shift_jis"><p>${SENTENCES.turkish}</p>`, 'windows-1254')
    expect((await read('a.html', bytes)).text).toBe(SENTENCES.turkish)
  })
})

describe('decoding after joining', () => {
  /** Folds a line after every three bytes of its value, within characters. */
  const fold = (name: string, value: string) =>
    Buffer.concat([
      Buffer.from(name),
      ...[...Buffer.from(value)].map((byte, index) =>
        index % 3 === 2 ? Buffer.concat([Buffer.from([byte]), Buffer.from('\r\n ')]) : Buffer.from([byte]),
      ),
      Buffer.from('\r\n'),
    ])

  it('lines of calendars and cards may be folded within a character', async () => {
    const calendar = Buffer.concat([
      Buffer.from('BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n'),
      fold('SUMMARY:', 'Größe der Brücke – 東京'),
      Buffer.from('END:VEVENT\r\nEND:VCALENDAR\r\n'),
    ])
    expect((await read('a.ics', calendar)).text).toBe('Größe der Brücke – 東京')
    const card = Buffer.concat([
      Buffer.from('BEGIN:VCARD\r\n'),
      fold('FN:', 'Жанна Øster'),
      Buffer.from('END:VCARD\r\n'),
    ])
    expect((await read('a.vcf', card)).text).toBe('Жанна Øster')
  })

  it('lines of cards are decoded in the charset that they declare', async () => {
    const card = Buffer.concat([
      Buffer.from('BEGIN:VCARD\r\nVERSION:2.1\r\nFN;CHARSET=windows-1254:'),
      iconv.encode('Işık Şen', 'windows-1254'),
      Buffer.from('\r\nNOTE;CHARSET=windows-1251;ENCODING=QUOTED-PRINTABLE:=C4=\r\n=E0\r\nEND:VCARD\r\n'),
    ])
    expect((await read('a.vcf', card)).text).toBe('Işık Şen\n\nДа')
  })

  it('headers of mails may be folded or encoded within a character, in any charset', async () => {
    const mail = (subject: string) =>
      Buffer.from(
        `From: a@example.org\nTo: b@example.org\nSubject: ${subject}\nMIME-Version: 1.0\n\nWords.\n`,
        'latin1',
      )
    const raw = Buffer.from('Größe').toString('latin1')
    expect((await read('a.eml', mail(`${raw.slice(0, 3)}\n ${raw.slice(3)}`))).title).toBe('Größe')
    expect((await read('a.eml', mail('=?utf-8?B?R3LD?=\n =?utf-8?B?tsOfZQ==?='))).title).toBe('Größe')
    expect((await read('a.eml', mail('=?iso-2022-jp?B?GyRCRWw1fhsoQg==?='))).title).toBe('東京')
  })

  it('parts of mails are decoded in the charset of their header, also where it consists of ASCII codes', async () => {
    const head = 'From: a@example.org\nTo: b@example.org\nSubject: x\nMIME-Version: 1.0\n'
    const japanese = Buffer.from(`${head}Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B$3$s\x1b(B\n`, 'latin1')
    expect((await read('a.eml', japanese)).text).toContain('こん')
    const turkish = `${head}Content-Type: text/plain; charset=windows-1254\nContent-Transfer-Encoding: quoted-printable\n\n=DDy=\ni =FEey\n`
    expect((await read('a.eml', Buffer.from(turkish, 'latin1'))).text).toContain('İyi şey')
  })

  it('old mails of Outlook use the code page that they declare, and have the time at which they were sent', async () => {
    const properties = Buffer.alloc(32 + 32)
    properties.writeUInt16LE(0x0003, 32)
    properties.writeUInt16LE(0x3ffd, 34)
    properties.writeUInt32LE(1252, 40)
    properties.writeUInt16LE(0x0040, 48)
    properties.writeUInt16LE(0x0039, 50)
    properties.writeBigUInt64LE(133_000_000_000_000_000n, 56)
    const file = CFB.utils.cfb_new()
    CFB.utils.cfb_add(file, '/__properties_version1.0', properties)
    CFB.utils.cfb_add(file, '/__substg1.0_0037001E', Buffer.from("L'\xe9quipe", 'latin1'))
    CFB.utils.cfb_add(file, '/__substg1.0_1000001E', Buffer.from('R\xe9union', 'latin1'))
    const document = await read('a.msg', CFB.write(file, { type: 'buffer' }))
    expect(document.text).toBe("Date: 2022-06-18T04:26:40.000Z\nSubject: L'équipe\n\nRéunion")
  })
})
