import { CFB } from '@e965/xlsx'
import { describe, expect, it } from 'vitest'
import { read, readInside } from './read.js'

/** A message from streams by path; properties of type 001F are UTF-16. */
function makeMsg(streams: Record<string, string>): Buffer {
  const file = CFB.utils.cfb_new()
  for (const [path, text] of Object.entries(streams)) {
    CFB.utils.cfb_add(file, `/${path}`, Buffer.from(text, path.endsWith('001F') ? 'utf16le' : 'latin1'))
  }
  return CFB.write(file, { type: 'buffer' })
}

const SUBSTG = '__substg1.0_'
const ATTACHMENT = '__attach_version1.0_#00000000/__substg1.0_'

describe('Outlook messages', () => {
  const message = {
    [`${SUBSTG}0037001F`]: 'Größe der Schachtel',
    [`${SUBSTG}0C1A001F`]: 'Ann',
    [`${SUBSTG}0C1F001F`]: 'ann@example.org',
    [`${SUBSTG}0E04001F`]: 'Bob',
    [`${SUBSTG}007D001F`]: 'MIME-Version: 1.0\r\nDate: Fri, 16 Dec 2022 17:04:16 -0500\r\n',
    [`${SUBSTG}1000001F`]: 'Hello Bob,\r\n\r\nit is large.\r\n\0',
    [`${SUBSTG}10130102`]: '<p>not twice</p>',
    [`${ATTACHMENT}3707001F`]: 'notes.txt',
    [`${ATTACHMENT}370E001F`]: 'text/plain',
    [`${ATTACHMENT}37010102`]: 'Attached words.',
  }

  it('give sender, recipients, date, subject, text, and attachments', async () => {
    const document = await read('mail.msg', makeMsg(message))
    expect([document.mediaType, document.title]).toEqual(['application/vnd.ms-outlook', 'Größe der Schachtel'])
    expect(document.elements.map((element) => [element.type, element.text])).toEqual([
      [
        'list',
        'From: Ann <ann@example.org>\nTo: Bob\nDate: Fri, 16 Dec 2022 17:04:16 -0500\nSubject: Größe der Schachtel',
      ],
      ['paragraph', 'Hello Bob,'],
      ['paragraph', 'it is large.'],
      ['paragraph', 'Attachment: notes.txt'],
    ])
  })

  it('give their attachments as files, and the text of forwarded messages', async () => {
    const inner = `${ATTACHMENT.replace('#00000000', '#00000001')}3701000D/`
    const { document, files } = await readInside(
      'mail.msg',
      makeMsg({
        ...message,
        [`${inner}${SUBSTG}0037001F`]: 'The older one',
        [`${inner}${SUBSTG}1000001F`]: 'It was smaller.',
        [`${inner}${ATTACHMENT}3707001F`]: 'old.txt',
        [`${inner}${ATTACHMENT}37010102`]: 'Older words.',
      }),
    )
    expect(document.text).toContain('Subject: The older one\n\nIt was smaller.')
    expect(files).toEqual({ 'notes.txt': 'Attached words.', 'old.txt': 'Older words.' })
  })

  it('fall back to their HTML, in their code page, if they have no plain text', async () => {
    const document = await read(
      'html.msg',
      makeMsg({ [`${SUBSTG}0037001E`]: 'Caf\u00e9', [`${SUBSTG}10130102`]: '<h1>Top</h1><p>Body</p>' }),
    )
    expect(document.text).toBe('Subject: Café\n\nTop\n\nBody')
  })
})
