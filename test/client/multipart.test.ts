import { Readable } from 'node:stream'
import busboy from 'busboy'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildMultipartBody, type UploadPart } from '../../src/client/multipart.js'

/** The parts that the parser of the service finds in a body. */
async function parse(parts: UploadPart[], fields: Record<string, string> = {}) {
  const { contentType, length, body } = buildMultipartBody('files', parts, fields)
  const chunks: Uint8Array[] = []
  await body(async (chunk) => {
    chunks.push(chunk)
  })
  const bytes = Buffer.concat(chunks)
  const files: { filename: string; content: string }[] = []
  const seen: Record<string, string> = {}
  await new Promise((resolve, reject) => {
    const parser = busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      defParamCharset: 'utf8',
    })
    parser.on('file', (_, stream, info) => {
      let content = ''
      stream.on('data', (chunk: Buffer) => {
        content += chunk.toString('latin1')
      })
      stream.on('end', () => files.push({ filename: info.filename ?? '', content }))
    })
    parser.on('field', (name, value) => {
      seen[name] = value
    })
    parser.on('close', resolve)
    parser.on('error', reject)
    Readable.from([bytes]).pipe(parser)
  })
  return { files, fields: seen, length, sent: bytes.byteLength }
}

const bytesOf = (text: string) => ({ bytes: Buffer.from(text, 'latin1') })

describe('a multipart body', () => {
  it('groups small parts into chunks, and passes stream chunks on unchanged', async () => {
    const sizes = async (parts: UploadPart[]) => {
      const sent: number[] = []
      await buildMultipartBody('files', parts).body(async (chunk) => {
        sent.push(chunk.byteLength)
      })
      return sent
    }
    const notes = Array.from({ length: 100 }, (_, n) => ({ filename: `${n}.md`, content: bytesOf('x'.repeat(1000)) }))
    const sent = await sizes(notes)
    expect(sent).toHaveLength(2)
    expect(Math.max(...sent)).toBeLessThanOrEqual(64 * 1024)
    expect(await sizes([{ filename: 'a', content: bytesOf('x'.repeat(200_000)) }])).toContain(200_000)
    const stream = Readable.from([Buffer.from('one'), Buffer.from('two')])
    expect(await sizes([{ filename: 'a', content: { stream } }])).toHaveLength(3)
  })

  it('keeps folders, fields, order and exact bytes', async () => {
    const parsed = await parse(
      [
        { filename: 'docs/intro.md', content: bytesOf('a\r\n--b\0') },
        { filename: 'docs/empty.md', content: bytesOf('') },
      ],
      { sourceId: '42' },
    )
    expect(parsed.files).toEqual([
      { filename: 'docs/intro.md', content: 'a\r\n--b\0' },
      { filename: 'docs/empty.md', content: '' },
    ])
    expect(parsed.fields).toEqual({ sourceId: '42' })
  })

  it('encodes any file name and computes its length', async () => {
    // No file system allows NUL in a name.
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => !text.includes('\0'))
    await fc.assert(
      fc.asyncProperty(name, fc.string(), async (filename, content) => {
        const parsed = await parse([{ filename, content: bytesOf(content) }])
        expect(parsed.files[0]?.filename).toBe(filename.toWellFormed())
        expect(parsed.length).toBe(parsed.sent)
      }),
      { numRuns: 200 },
    )
  })

  it('omits its length if it contains a stream', async () => {
    const stream = Readable.from([Buffer.from('abc')])
    const parsed = await parse([{ filename: 'a', content: { stream } }])
    expect(parsed.length).toBeUndefined()
    expect(parsed.files[0]?.content).toBe('abc')
  })
})
