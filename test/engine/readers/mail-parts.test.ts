import { expect, it } from 'vitest'
import { read, readInside } from './read.js'

const HEAD = 'From: a@example.org\nTo: b@example.org\nSubject: Boats\nMIME-Version: 1.0\n'

it('text below twenty nested parts and after a thousand parts of a mail is read', async () => {
  let nested = 'Content-Type: text/plain\n\nDeepest words.\n'
  for (let depth = 0; depth < 20; depth++)
    nested = `Content-Type: multipart/mixed; boundary="b${depth}"\n\n--b${depth}\n${nested}\n--b${depth}--\n`
  expect((await read('a.eml', HEAD + nested)).text).toContain('Deepest words.')
  const parts = Array.from({ length: 1200 }, (_, index) => `--b\nContent-Type: text/plain\n\nWords ${index}.\n`)
  const document = await read('b.eml', `${HEAD}Content-Type: multipart/mixed; boundary="b"\n\n${parts.join('')}--b--\n`)
  expect(document.text).toContain('Words 1199.')
  expect(document.metadata.warnings).toBeUndefined()
})

it('parts of a mail beyond the limits are counted in its warnings', async () => {
  let nested = 'Content-Type: text/plain\n\nDeepest words.\n'
  for (let depth = 0; depth < 120; depth++)
    nested = `Content-Type: multipart/mixed; boundary="b${depth}"\n\n--b${depth}\n${nested}\n--b${depth}--\n`
  expect((await read('a.eml', HEAD + nested)).metadata.warnings).toEqual(['not read: 1 part of the mail'])
})

it('each part of a mail that carries text is read, and others are files', async () => {
  const parts: [type: string, body: string][] = [
    ['text/plain', 'Plain words.'],
    ['text/html', '<p>HTML words.</p>'],
    ['text/markdown', 'Markdown words.'],
    [
      'text/calendar; method=REQUEST',
      'BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Regatta\nLOCATION:Harbour\nEND:VEVENT\nEND:VCALENDAR',
    ],
    ['text/vcard', 'BEGIN:VCARD\nFN:Ann Lee\nEND:VCARD'],
    ['text/rtf', '{\\rtf1 Rich words.}'],
    ['text/enriched', '<bold>Enriched</bold> words.'],
    ['text/unknown', 'Unknown words.'],
    ['message/delivery-status', 'Status: 5.1.1'],
    ['text/rfc822-headers', 'X-Reason: full'],
    ['message/rfc822', 'Subject: Forwarded\n\nForwarded words.'],
    [
      'multipart/alternative; boundary="c"',
      '--c\nContent-Type: text/plain\n\n\n--c\nContent-Type: text/html\n\n<p>Second words.</p>\n--c--',
    ],
    ['application/pgp-signature', 'iQEzBAABCAAdFiEE'],
    ['application/octet-stream', 'Bytes without a name.'],
    ['text/plain; name="a.txt"\nContent-Disposition: attachment', 'Attached words.'],
  ]
  const body = parts.map(([type, content]) => `--b\nContent-Type: ${type}\n\n${content}\n`).join('')
  const mail = `${HEAD}Content-Type: multipart/mixed; boundary="b"\n\n${body}--b--\n`
  const { document, files } = await readInside('a.eml', mail)
  const text = `${document.text}\n${Object.values(files).join('\n')}`
  for (const words of [
    'Plain words.',
    'HTML words.',
    'Markdown words.',
    'Regatta\n\nWhere: Harbour',
    'Ann Lee',
    'Rich words.',
    'Enriched',
    'Unknown words.',
    'Status: 5.1.1',
    'X-Reason: full',
    'Subject: Forwarded\n\nForwarded words.',
    'Second words.',
    'Bytes without a name.',
    'Attached words.',
  ])
    expect(text).toContain(words)
  expect(text).not.toMatch(/BEGIN:|iQEz/)
  expect(Object.keys(files)).toEqual(['attachment', 'a.txt'])
})
