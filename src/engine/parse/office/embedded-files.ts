import type { ZipArchive, ZipEntry } from '../archive/zip.js'
import { embeddedBlock } from '../inside/file-line.js'
import type { Inside } from '../inside/inside.js'
import { bytesInWords, ReadError } from '../limits.js'
import type { Block, ParserInput } from '../parsed.js'
import { relationsOf } from './office-package.js'
import { endingOfBytes, type OleStreams, storagesBelow } from './ole-file.js'
import { type Held, heldInCompound, heldInOle } from './ole-object.js'

const EMBEDDED = /^(?:word|xl|ppt)\/embeddings\/[^/]+$/
/** Charts whose values are read from their own part, so that their workbooks are not needed. */
const CHART = /^(?:word|xl|ppt)\/charts\/chart\d*\.xml$/
const COMPOUND = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
/** Relation types with which parts refer to embedded files. */
const KINDS = new Set(['package', 'oleObject'])

type Input = Pick<ParserInput, 'filename' | 'inside' | 'limits'>

/** The files embedded in an office file. Each becomes a separate document and gets a line where it is embedded. */
export interface Embedded {
  /** The blocks for the file in a part; returns them once. */
  take(part: string | undefined): Block[]
  /** The blocks that were not taken. */
  rest(): Block[]
  /** Whether relations of this type may lead to an embedded file. */
  isKind(kind: string): boolean
  /** A text about objects that are not files. */
  warnings: string[]
}

/** Adds the files embedded in an Office Open XML package as contained documents, one by one. */
export async function embeddedFiles(zip: ZipArchive, input: Input): Promise<Embedded> {
  if (![...zip.entries.keys()].some((part) => EMBEDDED.test(part))) return await handOver([], input.inside)
  const found: [string, EmbeddedObject][] = []
  const behindCharts = chartWorkbooks(zip, input.filename)
  for (const [part, entry] of zip.entries) {
    if (!EMBEDDED.test(part) || behindCharts.has(part)) continue
    found.push([part, { name: nameOf(part), read: () => heldInPart(zip, part, entry, input) }])
  }
  return await handOver(found, input.inside)
}

/** An embedded object: its name, used when the file has none, and its content. */
export interface EmbeddedObject {
  name: string
  /**
   * Returns undefined when it is neither a file nor a chart; may throw a `ReadError` that concerns only this object.
   */
  read(): Held
}

/** Adds the files of objects, each with a key, as contained documents. */
export async function handOver(
  objects: Iterable<readonly [string, EmbeddedObject]>,
  inside: Inside,
): Promise<Embedded> {
  const blocks = new Map<string, Block[]>()
  let others = 0
  for (const [key, object] of objects) {
    const own = await handOverOne(object, inside)
    if (own === undefined) others++
    else blocks.set(key, own)
  }
  const taken = (keys: Iterable<string>): Block[] =>
    [...keys].flatMap((key) => {
      const own = blocks.get(key) ?? []
      blocks.delete(key)
      return own
    })
  return {
    take: (part) => taken(part === undefined ? [] : [part]),
    rest: () => taken(blocks.keys()),
    isKind: (kind) => KINDS.has(kind),
    warnings: others === 0 ? [] : [`embedded objects that hold no file: ${others.toLocaleString('en-US')}`],
  }
}

async function handOverOne({ name, read }: EmbeddedObject, inside: Inside): Promise<Block[] | undefined> {
  const held = heldBy(read)
  if (held === undefined || Array.isArray(held)) return held
  if ('unread' in held) return [embeddedBlock(name, held)]
  const own = withEnding(held.name ?? name, held.ending)
  const outcome = await inside.add({ name: own, content: held.content })
  return 'skipped' in outcome ? undefined : [embeddedBlock(own, outcome)]
}

/** The content of an object, or the reason why it cannot be read: a damaged object does not affect its container. */
function heldBy(read: () => Held): Held | { unread: string } {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ReadError)) return { unread: 'it is damaged' }
    if (error.code === 'limit-exceeded') throw error
    return { unread: error.message }
  }
}

function heldInPart(zip: ZipArchive, part: string, entry: ZipEntry, { filename, limits }: Input): Held {
  const most = limits.containedBytes
  if (entry.size > most) throw new ReadError('malformed', `it is larger than ${bytesInWords(most)}`)
  const content = zip.unpack(entry)
  const ending = endingOfBytes(content)
  if (content.subarray(0, COMPOUND.length).equals(COMPOUND))
    return heldInCompound(content, { filename: `${filename}/${nameOf(part)}`, limits })
  return ending === undefined && /\.bin$/i.test(part) ? undefined : { ending: ending ?? '', content }
}

function nameOf(part: string): string {
  return part.slice(part.lastIndexOf('/') + 1)
}

/** A name with the extension of the file type: the extension of a part only identifies it as an object. */
function withEnding(name: string, ending: string): string {
  const own = name.replace(/\.(?:bin|ole)$/i, '')
  if (ending === '' || (own === name && /\.[A-Za-z0-9]{1,5}$/.test(name))) return name
  return `${own}.${ending}`
}

function chartWorkbooks(zip: ZipArchive, filename: string): Set<string> {
  const parts = new Set<string>()
  for (const part of zip.entries.keys()) {
    if (!CHART.test(part)) continue
    for (const relation of relationsOf(zip, part, filename).values())
      if (KINDS.has(relation.kind)) parts.add(relation.part)
  }
  return parts
}

/**
 * Adds the files of objects in storages of an old office file as contained documents.
 *
 * @param storages pattern of the start of the paths of their streams
 */
export async function embeddedInOld(streams: OleStreams, storages: RegExp, input: Input): Promise<Embedded> {
  const objects = [...storagesBelow(streams, storages)].map(
    ([path, own], index) => [path, { name: `Object ${index + 1}`, read: () => heldInOle(own, input) }] as const,
  )
  return await handOver(objects, input.inside)
}
