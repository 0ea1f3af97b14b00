import type { ZipArchive, ZipEntry } from '../archive/zip.js'
import type { ContainedFileCollector } from '../inside/contained-files.js'
import { toEmbeddedFileBlock } from '../inside/file-line.js'
import { formatByteCount, ReadError } from '../limits.js'
import type { Block, ParserInput } from '../parsed.js'
import { readRelations } from './office-package.js'
import { detectExtension, groupByStorage, type OleStreams } from './ole-file.js'
import { type OleContent, readCompoundContent, readOleContent } from './ole-object.js'

const COMPOUND_SIGNATURE = Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1])
/** Relation types with which parts refer to embedded files. */
const RELATION_KINDS = new Set(['package', 'oleObject'])
const CHART_KINDS = new Set(['chart', 'chartEx'])
/** Charts to which no relation leads. */
const CHART_FOLDER = /\/charts\/[^/]{1,200}$/
/** Parts that are no embedded files: markup, relations, pictures, fonts. */
const OWN_PART = /\.(?:xml|rels|vml|png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|wdp|odttf|fntdata)$|\/$/i
/** Part with the relations of another part. */
const RELATIONS_PART = /^(.{0,500}\/)_rels\/([^/]{1,500})\.rels$/

type EmbeddedInput = Pick<ParserInput, 'filename' | 'inside' | 'limits'>

/** The files embedded in an office file. Each becomes a separate document and gets a line where it is embedded. */
export interface EmbeddedObjects {
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
export async function addEmbeddedFiles(zip: ZipArchive, input: EmbeddedInput): Promise<EmbeddedObjects> {
  if (![...zip.entries.keys()].some((part) => !OWN_PART.test(part))) return await addObjects([], input.inside)
  const found: [string, EmbeddedObject][] = []
  const embeddedParts = findEmbeddedParts(zip, input.filename)
  for (const [part, entry] of zip.entries) {
    if (!embeddedParts.has(part)) continue
    found.push([part, { name: getBaseName(part), read: () => readPartContent(zip, part, entry, input) }])
  }
  return await addObjects(found, input.inside)
}

/** An embedded object: its name, used when the file has none, and its content. */
export interface EmbeddedObject {
  name: string
  /**
   * Returns undefined when it is neither a file nor a chart; may throw a `ReadError` that concerns only this object.
   */
  read(): OleContent
}

/** Adds the files of objects, each with a key, as contained documents. */
export async function addObjects(
  objects: Iterable<readonly [string, EmbeddedObject]>,
  inside: ContainedFileCollector,
): Promise<EmbeddedObjects> {
  const blocks = new Map<string, Block[]>()
  let otherCount = 0
  for (const [key, object] of objects) {
    const objectBlocks = await addObject(object, inside)
    if (objectBlocks === undefined) otherCount++
    else blocks.set(key, objectBlocks)
  }
  const take = (keys: Iterable<string>): Block[] =>
    [...keys].flatMap((key) => {
      const objectBlocks = blocks.get(key) ?? []
      blocks.delete(key)
      return objectBlocks
    })
  return {
    take: (part) => take(part === undefined ? [] : [part]),
    rest: () => take(blocks.keys()),
    isKind: (kind) => RELATION_KINDS.has(kind),
    warnings: otherCount === 0 ? [] : [`embedded objects that hold no file: ${otherCount.toLocaleString('en-US')}`],
  }
}

async function addObject({ name, read }: EmbeddedObject, inside: ContainedFileCollector): Promise<Block[] | undefined> {
  const content = readObject(read)
  if (content === undefined || Array.isArray(content)) return content
  if ('unread' in content) return [toEmbeddedFileBlock(name, content)]
  const fileName = withExtension(content.name ?? name, content.ending)
  const outcome = await inside.add({ name: fileName, content: content.content })
  return 'skipped' in outcome ? undefined : [toEmbeddedFileBlock(fileName, outcome)]
}

/** The content of an object, or the reason why it cannot be read: a damaged object does not affect its container. */
function readObject(read: () => OleContent): OleContent | { unread: string } {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof ReadError)) return { unread: 'it is damaged' }
    if (error.code === 'limit-exceeded') throw error
    return { unread: error.message }
  }
}

function readPartContent(
  zip: ZipArchive,
  part: string,
  entry: ZipEntry,
  { filename, limits }: EmbeddedInput,
): OleContent {
  const maxBytes = limits.containedBytes
  if (entry.size > maxBytes) throw new ReadError('malformed', `it is larger than ${formatByteCount(maxBytes)}`)
  const content = zip.unpack(entry)
  const ending = detectExtension(content)
  if (content.subarray(0, COMPOUND_SIGNATURE.length).equals(COMPOUND_SIGNATURE))
    return readCompoundContent(content, { filename: `${filename}/${getBaseName(part)}`, limits })
  return ending === undefined && /\.bin$/i.test(part) ? undefined : { ending: ending ?? '', content }
}

function getBaseName(part: string): string {
  return part.slice(part.lastIndexOf('/') + 1)
}

/** A name with the extension of the file type: the extension of a part only identifies it as an object. */
function withExtension(name: string, ending: string): string {
  const stem = name.replace(/\.(?:bin|ole)$/i, '')
  if (ending === '' || (stem === name && /\.[A-Za-z0-9]{1,5}$/.test(name))) return name
  return `${stem}.${ending}`
}

/**
 * The parts to which relations of embedded files lead, except the workbooks of charts: the values of a chart are read
 * from its own part.
 */
function findEmbeddedParts(zip: ZipArchive, filename: string): Set<string> {
  const embedded = new Set<string>()
  const workbooks = new Set<string>()
  const charts = new Set<string>()
  const sources: [source: string, targets: string[]][] = []
  for (const name of zip.entries.keys()) {
    const [, folder = '', file] = RELATIONS_PART.exec(name) ?? []
    if (file === undefined) continue
    const source = `${folder}${file}`
    const targets: string[] = []
    for (const { kind, part } of readRelations(zip, source, filename).values()) {
      if (RELATION_KINDS.has(kind)) targets.push(part)
      else if (CHART_KINDS.has(kind)) charts.add(part)
    }
    if (targets.length > 0) sources.push([source, targets])
  }
  for (const [source, targets] of sources)
    for (const part of targets) (charts.has(source) || CHART_FOLDER.test(source) ? workbooks : embedded).add(part)
  for (const part of workbooks) embedded.delete(part)
  return embedded
}

/**
 * Adds the files of objects in storages of an old office file as contained documents.
 *
 * @param storages pattern of the start of the paths of their streams
 */
export async function addEmbeddedFromCompound(
  streams: OleStreams,
  storages: RegExp,
  input: EmbeddedInput,
): Promise<EmbeddedObjects> {
  const objects = [...groupByStorage(streams, storages)].map(
    ([path, objectStreams], index) =>
      [path, { name: `Object ${index + 1}`, read: () => readOleContent(objectStreams, input) }] as const,
  )
  return await addObjects(objects, input.inside)
}
