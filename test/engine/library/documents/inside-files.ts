import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'

/** An attachment of a mail. */
export interface AttachedFile {
  name: string
  type?: string
  content: string | Buffer
}

/** A mail with a text and attachments. */
export function makeMail(subject: string, body: string, attached: readonly AttachedFile[] = []): Buffer {
  const parts = attached.map(({ name, type = 'application/octet-stream', content }) =>
    [
      `Content-Type: ${type}; name="${name}"`,
      `Content-Disposition: attachment; filename="${name}"`,
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from(content).toString('base64').replace(/.{76}/g, '$&\r\n'),
    ].join('\r\n'),
  )
  const head = [
    'From: Ada <ada@example.org>',
    'To: Bob <bob@example.org>',
    'Date: Tue, 03 Mar 2026 10:00:00 +0000',
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary="b1"',
    '',
  ]
  const whole = [`Content-Type: text/plain; charset=utf-8\r\n\r\n${body}`, ...parts]
  return Buffer.from(`${head.join('\r\n')}\r\n--b1\r\n${whole.join('\r\n--b1\r\n')}\r\n--b1--\r\n`)
}

/** A tar archive; an entry with a `link` is a symbolic link. */
export async function makeTar(
  entries: readonly { name: string; content?: string | Buffer; link?: string }[],
): Promise<Buffer> {
  const archive = pack()
  for (const { name, content = '', link } of entries)
    if (link === undefined) archive.entry({ name }, Buffer.from(content))
    else archive.entry({ name, type: 'symlink', linkname: link })
  archive.finalize()
  return await buffer(Readable.from(archive))
}
