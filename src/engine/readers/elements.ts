import type { CompiledElement, CompiledOutlineNode } from '../store/compiled.js'
import { buildFilingTitle, isRegulatorTitle } from './filing-title.js'
import { OutlineBuilder } from './outline.js'
import type { Block, ParsedDocument, Picture } from './parsed.js'

/** Separator of elements in the document text. */
export const ELEMENT_SEPARATOR = '\n\n'

/** Maximum length of a section title in paths; the heading element keeps its full text. */
const MAX_SECTION_TITLE_LENGTH = 300

/** A document with ids, paths and offsets, before it is split into nodes. */
export interface AssembledDocument {
  title: string
  text: string
  elements: CompiledElement[]
  outline: CompiledOutlineNode[]
  /** outline node id of each element, by index in `elements` */
  owners: string[]
  /** pictures of the image elements, by element id */
  pictures: Map<string, Picture>
}

/**
 * Assigns ids, section paths and exact offsets to the blocks of a parser and builds the outline.
 *
 * Offsets are UTF-16 units in `text`, which is the texts of all elements joined with a blank line.
 */
export function assembleDocument(parsed: ParsedDocument, filename: string): AssembledDocument {
  const { blocks } = parsed
  const title = findDocumentTitle(parsed, filename)
  const outline = new OutlineBuilder(title)
  const elements: CompiledElement[] = []
  const owners: string[] = []
  const parts: string[] = []
  const pictures = new Map<string, Picture>()
  let offset = 0
  let hasTitle = false

  for (const block of blocks) {
    const text = block.type === 'code' ? cleanCode(block.text) : cleanText(block.text)
    const isHeading = block.type === 'heading' || block.type === 'title'
    if (isHeading && text !== '') {
      outline.open(toSectionTitle(text), block.level ?? 1, block.tocSource ?? 'heading')
      if (block.silent === true) continue
    }
    if (text === '' && block.picture === undefined) continue

    const id = `e${elements.length + 1}`
    const element: CompiledElement = {
      id,
      type: isHeading && !hasTitle && isSameTitle(text, title) ? 'title' : block.type,
      sectionPath: outline.path(),
      metadata: {},
    }
    if (element.type === 'title') hasTitle = true
    if (block.pageNumber !== undefined) element.pageNumber = block.pageNumber
    if (block.metadata !== undefined) Object.assign(element.metadata, block.metadata)
    if (isHeading) element.metadata.level = block.level ?? 1
    if (text !== '') {
      if (parts.length > 0) offset += ELEMENT_SEPARATOR.length
      element.text = text
      element.metadata.startOffset = offset
      offset += text.length
      element.metadata.endOffset = offset
      parts.push(text)
    }
    owners.push(outline.add(element))
    elements.push(element)
    if (block.picture !== undefined) pictures.set(id, block.picture)
  }
  const text = parts.join(ELEMENT_SEPARATOR)
  const finalTitle = buildFilingTitle(blocks) ?? (isRegulatorTitle(title, blocks) ? removeEnding(filename) : title)
  return { title: finalTitle, text, elements, outline: outline.roots(), owners, pictures }
}

/** Whether two titles are equal except for case and white space. */
export function isSameTitle(a: string, b: string): boolean {
  return a === b || collapseSpaces(a).toLowerCase() === collapseSpaces(b).toLowerCase()
}

/** Replaces each run of white space with one space and trims. */
export function collapseSpaces(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function toSectionTitle(text: string): string {
  const line = collapseSpaces(text)
  return line.length <= MAX_SECTION_TITLE_LENGTH ? line : `${line.slice(0, MAX_SECTION_TITLE_LENGTH - 1).trimEnd()}…`
}

/** The document's title: the declared one, else its only first-level or very first heading, else its file name. */
function findDocumentTitle(parsed: ParsedDocument, filename: string): string {
  const declared = parsed.title === undefined ? '' : toSectionTitle(cleanText(parsed.title))
  return declared || findHeadingTitle(parsed.blocks) || removeEnding(filename)
}

function removeEnding(filename: string): string {
  const dot = filename.lastIndexOf('.')
  return dot > 0 ? filename.slice(0, dot) : filename
}

function findHeadingTitle(blocks: Block[]): string {
  let top: Block | undefined
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'heading' && block.type !== 'title') continue
    if (block.tocSource !== undefined && block.tocSource !== 'heading') continue
    if (block.type === 'title' || index === 0) return toSectionTitle(cleanText(block.text))
    if (block.level !== 1) continue
    if (top !== undefined) return ''
    top = block
  }
  return top === undefined ? '' : toSectionTitle(cleanText(top.text))
}

/**
 * Makes a text safe for every store and terminal: replaces NUL and lone surrogates, normalizes line ends to `\n`,
 * trims.
 */
export function cleanText(text: string): string {
  return toWellFormed(text).trim()
}

/** Like `cleanText`, but keeps the indentation of the first line. */
function cleanCode(text: string): string {
  const clean = toWellFormed(text).trimEnd()
  let start = 0
  for (let newline = clean.indexOf('\n'); newline !== -1; newline = clean.indexOf('\n', start)) {
    if (clean.slice(start, newline).trim() !== '') break
    start = newline + 1
  }
  return clean.slice(start)
}

function toWellFormed(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  return /[\0\uD800-\uDFFF]/.test(lines) ? lines.replace(/\0|\p{Surrogate}/gu, '\uFFFD') : lines
}
