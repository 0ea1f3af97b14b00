import { createHash, type Hash } from 'node:crypto'
import type { JsonReader } from '../../lib/json/reader.js'
import type { CompiledElement, CompiledOutlineNode } from '../store/compiled.js'
import { readPacked } from '../store/packed.js'
import { MAX_SECTION_DEPTH, type StoredItem } from './stored-parts.js'

// Readers of the packed parts of a version. They hold one element, item or section in memory at a time: documents may
// be large, and several are read at once.

/** Reads the JSON of each element of an artifact. @throws KsError `data-damaged` */
export function readElementTexts(artifact: Uint8Array): AsyncGenerator<Buffer> {
  return readPacked(artifact, (json) => readMembers(json, 'elements', () => json.readBytes()))
}

/** Reads the elements of an artifact. @throws KsError `data-damaged` */
export function readStoredElements(artifact: Uint8Array): AsyncGenerator<CompiledElement> {
  return readPacked(artifact, (json) =>
    readMembers(json, 'elements', async () => asObject(await json.readValue()) as unknown as CompiledElement),
  )
}

/** Reads the text of an artifact, in parts. @throws KsError `data-damaged` */
export function readStoredText(artifact: Uint8Array): AsyncGenerator<string> {
  return readPacked(artifact, async function* (json) {
    let isFound = false
    for await (const key of json.readKeys()) {
      isFound ||= key === 'text'
      if (key === 'text') yield* json.readText()
      else await json.skip()
    }
    if (!isFound) throw createMissingKeyError('text')
    await json.expectEnd()
  })
}

/** Reads the items of a version. @throws KsError `data-damaged` */
export function readStoredItems(items: Uint8Array): AsyncGenerator<StoredItem> {
  return readPacked(items, async function* (json) {
    for await (const _ of json.readMembers()) yield asObject(await json.readValue()) as unknown as StoredItem
    await json.expectEnd()
  })
}

function asObject(value: unknown): object {
  if (typeof value !== 'object' || value === null) throw new SyntaxError('a member of a list is not an object')
  return value
}

async function* readMembers<T>(json: JsonReader, listKey: string, read: () => Promise<T>): AsyncGenerator<T> {
  let isFound = false
  for await (const key of json.readKeys()) {
    isFound ||= key === listKey
    if (key !== listKey) await json.skip()
    else for await (const _ of json.readMembers()) yield await read()
  }
  if (!isFound) throw createMissingKeyError(listKey)
  await json.expectEnd()
}

function createMissingKeyError(key: string): SyntaxError {
  return new SyntaxError(`the key ${key} is missing`)
}

/** A section without its children. */
export type SectionFields = Omit<CompiledOutlineNode, 'children'>

/** Callbacks of a walk over the sections of an outline; what they return is yielded. */
export interface SectionVisitor<T> {
  /** a section begins; its children follow */
  open?(): T[] | undefined
  /** a section ends; only now all of its fields are known */
  close?(fields: SectionFields, childIds: readonly string[]): T[] | undefined
}

/** Walks over the sections of an outline. @throws KsError `data-damaged` */
export function walkSections<T>(outline: Uint8Array, visitor: SectionVisitor<T>): AsyncGenerator<T> {
  return readPacked(outline, (json) => walkJson(json, visitor))
}

/** Reads the sections of an outline as a tree, without their elements. @throws KsError `data-damaged` */
export async function readStoredSections(outline: Uint8Array): Promise<CompiledOutlineNode[]> {
  const levels: CompiledOutlineNode[][] = [[]]
  const visitor: SectionVisitor<never> = {
    open() {
      levels.push([])
      return undefined
    },
    close(fields) {
      const children = levels.pop() ?? []
      levels.at(-1)?.push({ ...fields, children, sourceElementIds: [] })
      return undefined
    },
  }
  for await (const _ of walkSections(outline, visitor));
  return levels[0] ?? []
}

/** Walks over the sections of an outline as JSON. @throws SyntaxError, JsonTooLarge */
export async function* walkJson<T>(json: JsonReader, visitor: SectionVisitor<T>): AsyncGenerator<T> {
  yield* walkLevel(json, visitor, [], 1)
  await json.expectEnd()
}

/** @param ids receives the ids of the sections of this level */
async function* walkLevel<T>(
  json: JsonReader,
  visitor: SectionVisitor<T>,
  ids: string[],
  depth: number,
): AsyncGenerator<T> {
  if (depth > MAX_SECTION_DEPTH) throw new SyntaxError(`sections are nested deeper than ${MAX_SECTION_DEPTH} levels`)
  for await (const _ of json.readMembers()) {
    yield* visitor.open?.() ?? []
    const fields = new Map<string, unknown>()
    const childIds: string[] = []
    for await (const key of json.readKeys()) {
      if (key === 'children') yield* walkLevel(json, visitor, childIds, depth + 1)
      else fields.set(key, await json.readValue())
    }
    // Not by assignment: a key `__proto__` would set the prototype.
    const section = Object.fromEntries(fields) as unknown as SectionFields
    ids.push(section.id)
    yield* visitor.close?.(section, childIds) ?? []
  }
}

/** The hash of a text in parts, which may be split within a surrogate pair. */
export async function hashTextParts(parts: AsyncIterable<string>): Promise<Hash> {
  const hash = createHash('sha256')
  let pendingHalf = ''
  for await (const part of parts) {
    const text = pendingHalf + part
    pendingHalf = /[\ud800-\udbff]$/.test(text) ? text.slice(-1) : ''
    hash.update(pendingHalf === '' ? text : text.slice(0, -1))
  }
  return hash.update(pendingHalf)
}
