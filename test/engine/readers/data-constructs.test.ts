import { describe, expect, it } from 'vitest'
import { read } from './read.js'

describe('calendars', () => {
  it('give every field with words, and name those that are not read', async () => {
    const source = `BEGIN:VCALENDAR
X-WR-CALNAME:Harbour
BEGIN:VEVENT
UID:a@example.org
DTSTART;TZID=Europe/Berlin:20240501T143000
SUMMARY:Regatta\\, part 1
DESCRIPTION:First line\\nsecond line
LOCATION:Quay
ORGANIZER;CN=Ann:mailto:ann@example.org
ATTACH:https://example.org/plan.pdf
X-BOAT-NAME:Tern
BEGIN:VALARM
DESCRIPTION:Wake up
END:VALARM
END:VEVENT
BEGIN:VFREEBUSY
FREEBUSY:20240501T143000Z/PT1H
END:VFREEBUSY
END:VCALENDAR
`
    const document = await read('a.ics', source)
    expect(document.title).toBe('Harbour')
    expect(document.text).toBe(
      'Regatta, part 1\n\nStart: 2024-05-01 14:30 (Europe/Berlin)\nWhere: Quay\nOrganizer: Ann <ann@example.org>\nAttached: https://example.org/plan.pdf\n\nFirst line\nsecond line\n\nBusy times\n\nBusy: 20240501T143000Z/PT1H',
    )
    expect(document.metadata.warnings).toEqual(['fields that are not read: X-BOAT-NAME'])
  })
})

describe('cards', () => {
  it('give every field with words, and name those that are not read', async () => {
    const source = `BEGIN:VCARD
VERSION:4.0
FN:Ann Lee
N:Lee;Ann;;Dr.;
ORG:Harbour;Pilots
TEL;TYPE=work:tel:+1
GENDER:F;woman
HOBBY:sailing
NOTE:Speaks Danish
PHOTO;ENCODING=b:/9j/4AAQ
X-CALLSIGN:Tern
END:VCARD
`
    const document = await read('a.vcf', source)
    expect(document.text).toBe(
      'Ann Lee\n\nName: Dr. Ann Lee\nOrganisation: Harbour, Pilots\nPhone (work): +1\nGender: F, woman\nHobby: sailing\n\nSpeaks Danish',
    )
    expect(document.metadata.warnings).toEqual(['fields that are not read: X-CALLSIGN'])
  })
})

describe('notebooks', () => {
  it('give outputs of every type of text, and count those that are cut', async () => {
    const output = (data: Record<string, string>) => ({ output_type: 'display_data', data })
    const outputs = [
      { output_type: 'stream', text: ['streamed\n'] },
      output({ 'text/plain': 'plain' }),
      output({ 'text/markdown': '**marked**' }),
      output({ 'text/latex': '$x^2$' }),
      output({ 'text/html': '<b>bold</b>' }),
      { output_type: 'error', ename: 'KeyError', evalue: 'tern' },
      output({ 'text/plain': 'y'.repeat(5000) }),
    ]
    const cells = [
      { cell_type: 'markdown', source: '# Title' },
      { cell_type: 'raw', source: 'raw words' },
      { cell_type: 'code', source: 'print()', outputs },
    ]
    const document = await read('a.ipynb', JSON.stringify({ nbformat: 4, nbformat_minor: 5, metadata: {}, cells }))
    for (const words of [
      'Title',
      'raw words',
      'print()',
      'streamed',
      'plain',
      'marked',
      '$x^2$',
      'bold',
      'KeyError: tern',
    ])
      expect(document.text).toContain(words)
    expect(document.metadata.warnings).toEqual(['left out or cut: 1 output'])
  })
})

it('other data keep all their words', async () => {
  for (const [name, source] of Object.entries({
    'a.yaml': '# comment\nkey: value # note\nlist:\n  - on\n  - 1.10\ntext: |\n  block words\n',
    'a.toml': '# comment\n[table]\nkey = "value"\nnumber = 0x1F\ntext = """\nblock words"""\n',
    'a.ini': '; comment\n[section]\nkey=value\n',
    'a.bib': '@book{key,\n author = {Ann Lee},\n note = {Some words}\n}\n',
    'a.sql':
      "CREATE TABLE boats (name text, price numeric);\nINSERT INTO boats VALUES ('Tern', 1.10), ('Ann', 0x1F);\n",
    'a.csv': 'name,price\n"Tern, the",1.10\nAnn,007\n',
  })) {
    const { text } = await read(name, source)
    const shown = text.toLowerCase()
    const words = source.replace(/CREATE TABLE|INSERT INTO|VALUES|@book/g, '').match(/[\w.]*\w/g) ?? []
    expect([name, words.filter((word) => !shown.includes(word.toLowerCase()))]).toEqual([name, []])
  }
})
