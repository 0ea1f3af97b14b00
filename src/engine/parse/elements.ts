import type { CompiledElement, CompiledOutlineNode } from './compiled.js'
import { filingTitle, isAuthority } from './filing-title.js'
import { Outline } from './outline.js'
import type { Block, Parsed, Picture } from './parsed.js'

/** Separator of elements in the document text. */
export const ELEMENT_SEPARATOR = '\n\n'

/** Maximum length of a section title in paths; the heading element keeps its full text. */
const MAX_SECTION_TITLE = 300

/** A document with ids, paths and offsets, before it is split into nodes. */
export interface Assembled {
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
export function assemble(parsed: Parsed, filename: string): Assembled {
  const blocks = parsed.blocks
  const title = documentTitle(parsed, filename)
  const outline = new Outline(title)
  const elements: CompiledElement[] = []
  const owners: string[] = []
  const parts: string[] = []
  const pictures = new Map<string, Picture>()
  let offset = 0
  let titled = false

  for (const block of blocks) {
    const text = block.type === 'code' ? cleanCode(block.text) : cleanText(block.text)
    const heading = block.type === 'heading' || block.type === 'title'
    if (heading && text !== '') {
      outline.open(sectionTitle(text), block.level ?? 1, block.tocSource ?? 'heading')
      if (block.silent === true) continue
    }
    if (text === '' && block.picture === undefined) continue

    const id = `e${elements.length + 1}`
    const element: CompiledElement = {
      id,
      type: heading && !titled && sameTitle(text, title) ? 'title' : block.type,
      sectionPath: outline.path(),
      metadata: {},
    }
    if (element.type === 'title') titled = true
    if (block.pageNumber !== undefined) element.pageNumber = block.pageNumber
    if (block.metadata !== undefined) Object.assign(element.metadata, block.metadata)
    if (heading) element.metadata.level = block.level ?? 1
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
  const own = filingTitle(blocks) ?? (isAuthority(title, blocks) ? nameOf(filename) : title)
  return { title: own, text, elements, outline: outline.roots(), owners, pictures }
}

/** Whether two titles are equal except for case and white space. */
export function sameTitle(a: string, b: string): boolean {
  return a === b || squeeze(a).toLowerCase() === squeeze(b).toLowerCase()
}

/** Replaces each run of white space with one space and trims. */
export function squeeze(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function sectionTitle(text: string): string {
  const line = squeeze(text)
  return line.length <= MAX_SECTION_TITLE ? line : `${line.slice(0, MAX_SECTION_TITLE - 1).trimEnd()}…`
}

/** The document's title: the declared one, else its only first-level or very first heading, else its file name. */
function documentTitle(parsed: Parsed, filename: string): string {
  const declared = parsed.title === undefined ? '' : sectionTitle(cleanText(parsed.title))
  if (declared !== '') return declared
  const found = headingTitle(parsed.blocks)
  if (found !== '') return found
  return nameOf(filename)
}

function nameOf(filename: string): string {
  const dot = filename.lastIndexOf('.')
  return dot > 0 ? filename.slice(0, dot) : filename
}

function headingTitle(blocks: Block[]): string {
  let top: Block | undefined
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'heading' && block.type !== 'title') continue
    if (block.tocSource !== undefined && block.tocSource !== 'heading') continue
    if (block.type === 'title' || index === 0) return sectionTitle(cleanText(block.text))
    if (block.level !== 1) continue
    if (top !== undefined) return ''
    top = block
  }
  return top === undefined ? '' : sectionTitle(cleanText(top.text))
}

/**
 * Makes a text safe for every store and terminal: replaces NUL and lone surrogates, normalizes line ends to `\n`,
 * trims.
 */
export function cleanText(text: string): string {
  return wellFormed(text).trim()
}

/** Like `cleanText`, but keeps the indentation of the first line. */
function cleanCode(text: string): string {
  const clean = wellFormed(text).trimEnd()
  let start = 0
  for (let at = clean.indexOf('\n'); at !== -1; at = clean.indexOf('\n', start)) {
    if (clean.slice(start, at).trim() !== '') break
    start = at + 1
  }
  return clean.slice(start)
}

function wellFormed(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text
  return /[\0\uD800-\uDFFF]/.test(lines) ? lines.replace(/\0|\p{Surrogate}/gu, '\uFFFD') : lines
}
