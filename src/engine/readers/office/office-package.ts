import { posix } from 'node:path'
import type { ZipArchive } from '../archive/zip.js'
import { decodeText } from '../charset.js'
import { ReadError, type ReadLimits } from '../limits.js'
import { type Attributes, readMarkup, visitTags } from '../markup/markup-events.js'
import type { Block } from '../parsed.js'
import { withUsualPrefixes } from './usual-prefixes.js'

/** Kinds of the relation to the main part: of Office Open XML, and of Visio. */
const MAIN_KINDS = new Set(['officeDocument', 'document'])

/** A reference from one part of a package to another. */
export interface PackageRelation {
  /** The last segment of its type: `slide`, `notesSlide`, `image`. */
  kind: string
  /** Full name of the part in the archive. */
  part: string
}

/** Reads the text of an XML part in its declared encoding; a second time from memory. */
export function readXmlText(zip: ZipArchive, name: string): string {
  const bytes = zip.read(name)
  const text = decodedParts.get(bytes) ?? decodeText(bytes).text
  decodedParts.set(bytes, text)
  return text
}

const decodedParts = new WeakMap<Buffer, string>()

/**
 * Reads the text of an XML part with the usual prefixes, and refuses document types: office programs never write one,
 * and its only use would be entities.
 *
 * @throws ReadError `malformed` when there is one, and whatever the archive throws
 */
export function readXmlPart(zip: ZipArchive, name: string, filename: string): string {
  const text = readXmlText(zip, name)
  if (!/<!DOCTYPE/i.test(text)) return withUsualPrefixes(text)
  throw new ReadError('malformed', `${filename} declares a document type in ${name}, which its format does not allow`)
}

/**
 * The main part of a package: the one that its relationships name, else the one with a usual name.
 *
 * @throws ReadError `malformed` when there is neither
 */
export function getMainPart(zip: ZipArchive, filename: string, usualNames: readonly string[]): string {
  for (const { kind, part } of readRelations(zip, '', filename).values())
    if (MAIN_KINDS.has(kind) && zip.entries.has(part)) return part
  for (const name of usualNames) {
    const found = findEntry(zip, name)
    if (zip.entries.has(found)) return found
  }
  throw new ReadError(
    'malformed',
    `${filename} has no main part: neither its relationships nor a usual name lead to one`,
  )
}

/** The part to which the first relation of a kind leads, else the one with the usual name, if it exists. */
export function findRelatedPart(
  zip: ZipArchive,
  relations: ReadonlyMap<string, PackageRelation>,
  kind: string,
  usualName: string,
): string | undefined {
  for (const relation of relations.values())
    if (relation.kind === kind && zip.entries.has(relation.part)) return relation.part
  return zip.entries.has(usualName) ? usualName : undefined
}

/** The part with title, author and dates. */
export function findCoreProperties(zip: ZipArchive, filename: string): string {
  const usualName = 'docProps/core.xml'
  return findRelatedPart(zip, readRelations(zip, '', filename), 'core-properties', usualName) ?? usualName
}

/** The name of a part as the archive spells it: names are equal when only their case differs (ISO/IEC 29500-2, 9.1.1). */
function findEntry(zip: ZipArchive, name: string): string {
  if (zip.entries.has(name)) return name
  let names = lowerCaseNames.get(zip)
  if (names === undefined) {
    names = new Map([...zip.entries.keys()].map((entry) => [entry.toLowerCase(), entry]))
    lowerCaseNames.set(zip, names)
  }
  return names.get(name.toLowerCase()) ?? name
}

const lowerCaseNames = new WeakMap<ZipArchive, Map<string, string>>()

/**
 * Reads the relations of a part of an Office Open XML package, by relationship id. Targets outside the archive are left
 * out: nothing is ever fetched.
 *
 * @param part the empty string for those of the package
 */
export function readRelations(zip: ZipArchive, part: string, filename: string): ReadonlyMap<string, PackageRelation> {
  const parts = relationsOfArchives.get(zip) ?? new Map<string, ReadonlyMap<string, PackageRelation>>()
  relationsOfArchives.set(zip, parts)
  const cached = parts.get(part)
  if (cached !== undefined) return cached
  const relations = new Map<string, PackageRelation>()
  const name = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`)
  parts.set(part, relations)
  const entry = findEntry(zip, name)
  if (!zip.entries.has(entry)) return relations
  forEachTag(readXmlPart(zip, entry, filename), 'Relationship', (attributes) => {
    const id = attributes.get('Id')
    const target = attributes.get('Target')
    if (id === undefined || target === undefined || attributes.get('TargetMode') === 'External') return
    const type = attributes.get('Type') ?? ''
    relations.set(id, { kind: type.slice(type.lastIndexOf('/') + 1), part: findEntry(zip, resolvePart(part, target)) })
  })
  return relations
}

/** Several readers of one archive need the relations of a part. */
const relationsOfArchives = new WeakMap<ZipArchive, Map<string, ReadonlyMap<string, PackageRelation>>>()

/** The full name of a part, from a target relative to another part or absolute in the archive. */
export function resolvePart(from: string, target: string): string {
  const path = target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(from), target)
  return posix.normalize(path.replaceAll('\\', '/'))
}

/** Calls `visit` for every tag with a name, in order. */
export function forEachTag(xml: string, tag: string, visit: (attributes: Attributes) => void): void {
  visitTags(xml, (name, attributes) => {
    if (name === tag) visit(attributes)
  })
}

/**
 * Reads the trimmed text of the first occurrence of each named element, such as `dc:title` in the properties of a
 * document. Empty elements, and those of a missing part, are left out.
 */
export function readElementTexts(zip: ZipArchive, part: string, filename: string, tags: string[]): Map<string, string> {
  return zip.entries.has(part) ? parseElementTexts(readXmlPart(zip, part, filename), tags) : new Map<string, string>()
}

/** Reads the same from an XML text. */
export function parseElementTexts(xml: string, tags: string[]): Map<string, string> {
  const texts = new Map<string, string>()
  let current = ''
  let content = ''
  readMarkup(
    xml,
    {
      open(name) {
        current = tags.includes(name) && !texts.has(name) ? name : ''
        content = ''
      },
      close() {
        if (current !== '' && content.trim() !== '') texts.set(current, content.replace(/\s+/g, ' ').trim())
        current = ''
      },
      text(text) {
        if (current !== '') content += text
      },
    },
    'xml',
  )
  return texts
}

/** @throws ReadError `limit-exceeded` when a presentation has too many slides */
export function checkSlideCount(count: number, filename: string, { maxPages }: ReadLimits): void {
  if (count <= maxPages) return
  const counts = `${count.toLocaleString('en-US')} slides, more than the limit of ${maxPages.toLocaleString('en-US')}`
  throw new ReadError('limit-exceeded', `${filename} has ${counts}`)
}

/** Heading with a name like `Slide 3` for a page or slide without a title. */
export function createUntitledHeading(text: string): Block {
  return { type: 'heading', text, level: 1, tocSource: 'page', silent: true }
}

/** The title in the properties, unless it is a default of the program. */
export function toMeaningfulTitle(text: string | undefined): string | undefined {
  if (text === undefined || text.length < 3) return undefined
  return /^(?:word document|document\d*$|microsoft word|powerpoint|presentation\d*$|slide 1$|untitled|book\d*$)/i.test(
    text,
  )
    ? undefined
    : text
}
