import { posix } from 'node:path'
import type { ZipArchive } from '../archive/zip.js'
import { declaredCharset, decodeText } from '../charset.js'
import { ReadError } from '../limits.js'
import { type Attributes, readMarkup } from '../markup/markup-events.js'

/** A part that another part of the same package points to. */
export interface Relation {
  /** the last word of its type: `slide`, `notesSlide`, `image` */
  kind: string
  /** full name of the part in the archive */
  part: string
}

/** The text of an XML part in the encoding that it declares. */
export function xmlText(zip: ZipArchive, name: string): string {
  const bytes = zip.read(name)
  return decodeText(bytes, declaredCharset(bytes)).text
}

/**
 * The text of an XML part of a format without document types: office programs never write one, and entities are all it
 * would be for.
 *
 * @throws ReadError `malformed` where there is one, and whatever the archive throws
 */
export function xmlPart(zip: ZipArchive, name: string, filename: string): string {
  const text = xmlText(zip, name)
  if (!/<!DOCTYPE/i.test(text)) return text
  throw new ReadError('malformed', `${filename} declares a document type in ${name}, which its format does not have`)
}

/**
 * What a part of an Office Open XML package points to, by relationship id. Targets outside the archive are left out:
 * nothing is ever fetched.
 */
export function relationsOf(zip: ZipArchive, part: string, filename: string): Map<string, Relation> {
  const relations = new Map<string, Relation>()
  const name = posix.join(posix.dirname(part), '_rels', `${posix.basename(part)}.rels`)
  if (!zip.entries.has(name)) return relations
  forEachTag(xmlPart(zip, name, filename), 'Relationship', (attributes) => {
    const id = attributes.get('Id')
    const target = attributes.get('Target')
    if (id === undefined || target === undefined || attributes.get('TargetMode') === 'External') return
    const type = attributes.get('Type') ?? ''
    relations.set(id, { kind: type.slice(type.lastIndexOf('/') + 1), part: resolvePart(part, target) })
  })
  return relations
}

/** The full name of a part, from a target relative to another part or absolute in the archive. */
export function resolvePart(from: string, target: string): string {
  const path = target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(from), target)
  return posix.normalize(path.replaceAll('\\', '/'))
}

/** Calls back for every tag of a name, in order. */
export function forEachTag(xml: string, tag: string, visit: (attributes: Attributes) => void): void {
  readMarkup(
    xml,
    {
      open(name, attributes) {
        if (name === tag) visit(attributes)
      },
      close: () => undefined,
      text: () => undefined,
    },
    true,
  )
}

/**
 * The text of the first of each of the named elements, trimmed, as `dc:title` in the properties of a document; nothing
 * where the part is missing or they are empty.
 */
export function elementTexts(zip: ZipArchive, part: string, filename: string, tags: string[]): Map<string, string> {
  return zip.entries.has(part) ? textsOfElements(xmlPart(zip, part, filename), tags) : new Map<string, string>()
}

/** The same of a text. */
export function textsOfElements(xml: string, tags: string[]): Map<string, string> {
  const texts = new Map<string, string>()
  let inside = ''
  let held = ''
  readMarkup(
    xml,
    {
      open(name) {
        inside = tags.includes(name) && !texts.has(name) ? name : ''
        held = ''
      },
      close() {
        if (inside !== '' && held.trim() !== '') texts.set(inside, held.replace(/\s+/g, ' ').trim())
        inside = ''
      },
      text(text) {
        if (inside !== '') held += text
      },
    },
    true,
  )
  return texts
}

/** The title in the properties, unless it is what the program puts there by itself. */
export function properTitle(text: string | undefined): string | undefined {
  if (text === undefined || text.length < 3) return undefined
  return /^(?:word document|document\d*$|microsoft word|powerpoint|presentation\d*$|slide 1$|untitled|book\d*$)/i.test(
    text,
  )
    ? undefined
    : text
}
