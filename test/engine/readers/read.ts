import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { crc32, deflateRawSync } from 'node:zlib'
import { DEFAULT_LIMITS, ReadError, type ReadLimits } from '../../../src/engine/readers/limits.js'
import { compileBytes } from '../../../src/engine/readers/read-document.js'
import type { StoredArtifact } from '../../../src/engine/readers/stored-parts.js'
import type { CompiledDocument, CompileFailure, PreparedDocument } from '../../../src/engine/store/compiled.js'
import { unpack } from '../../../src/engine/store/packed.js'

const FIXTURES = new URL('../../fixtures/docs/', import.meta.url)

export function fixturePath(name: string): string {
  return fileURLToPath(new URL(name, FIXTURES))
}

/** Reads a document from memory, in the test process. */
export async function read(
  filename: string,
  content: string | Buffer,
  options: { declaredType?: string; limits?: Partial<ReadLimits> } = {},
): Promise<CompiledDocument> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const request = options.declaredType === undefined ? { filename } : { filename, declaredType: options.declaredType }
  return compileBytes(bytes, request, { ...DEFAULT_LIMITS, ...options.limits })
}

/** Reads a document and the files in it, by name and as text, in the test process. */
export async function readInside(
  filename: string,
  content: string | Buffer,
  { depth = 0, limits = {} }: { depth?: number; limits?: Partial<ReadLimits> } = {},
): Promise<{ document: CompiledDocument; files: Record<string, string> }> {
  const contents: string[] = []
  let open: Uint8Array[] = []
  const sink = {
    async write(bytes: Uint8Array) {
      open.push(Buffer.from(bytes))
    },
    async end(kept: boolean) {
      if (kept) contents.push(Buffer.concat(open).toString())
      open = []
    },
  }
  const all = { ...DEFAULT_LIMITS, ...limits }
  const document = await compileBytes(Buffer.from(content), { filename, depth }, all, sink)
  const named = (document.contained ?? []).map(({ name }, place) => [name, contents[place] ?? ''])
  return { document, files: Object.fromEntries(named) }
}

export async function readFixture(name: string): Promise<CompiledDocument> {
  return read(name, readFileSync(fixturePath(name)))
}

/** The text of a document as the reading process returned it. */
export async function textOf({ artifact }: PreparedDocument): Promise<string> {
  return (await unpack<StoredArtifact>(artifact)).text
}

/** The failure of a document that must not be readable. */
export async function failureOf(reading: Promise<CompiledDocument>): Promise<CompileFailure> {
  try {
    const document = await reading
    throw new Error(`was read as ${document.mediaType}`)
  } catch (error) {
    if (error instanceof ReadError) return { code: error.code, message: error.message }
    throw error
  }
}

export interface ZipPart {
  name: string
  content: Buffer | string
  /** Uncompressed size to claim in the directory instead of the true one. */
  claimedSize?: number
  flags?: number
}

/** A zip archive with deflated parts, with true or false sizes. */
export function makeZip(parts: ZipPart[]): Buffer {
  const files: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const part of parts) {
    const content = Buffer.from(part.content)
    const packed = deflateRawSync(content, { level: 9 })
    const size = part.claimedSize ?? content.length
    const name = Buffer.from(part.name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(part.flags ?? 0, 2)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(size, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, name, packed])
    const place = Buffer.alloc(16)
    place.writeUInt32LE(offset, 10 + 2)
    directory.push(
      Buffer.concat([
        Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
        common,
        Buffer.alloc(10),
        place.subarray(10 + 2),
        name,
      ]),
    )
    files.push(local)
    offset += local.length
  }
  const list = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(Math.min(parts.length, 0xffff), 8)
  end.writeUInt16LE(Math.min(parts.length, 0xffff), 10)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...files, list, end])
}

/** A Word document with the given body XML. */
export function makeDocx(body: string, extra: ZipPart[] = []): Buffer {
  const word = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
  const types = 'http://schemas.openxmlformats.org/package/2006/content-types'
  const relations = 'http://schemas.openxmlformats.org/package/2006/relationships'
  const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument'
  return makeZip([
    { name: '[Content_Types].xml', content: `<?xml version="1.0"?><Types xmlns="${types}"/>` },
    {
      name: '_rels/.rels',
      content: `<?xml version="1.0"?><Relationships xmlns="${relations}"><Relationship Id="r1" Type="${office}" Target="word/document.xml"/></Relationships>`,
    },
    {
      name: 'word/document.xml',
      content: `<?xml version="1.0"?>${body.startsWith('<!DOCTYPE') ? body : `<w:document xmlns:w="${word}"><w:body>${body}</w:body></w:document>`}`,
    },
    ...extra,
  ])
}

export function wordParagraph(text: string, style?: string): string {
  const properties = style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`
  return `<w:p>${properties}<w:r><w:t>${text}</w:t></w:r></w:p>`
}

/** `count` different words. */
export function words(count: number, stem = 'word'): string {
  return Array.from({ length: count }, (_, index) => `${stem}${index}`).join(' ')
}
