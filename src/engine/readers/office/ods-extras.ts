import type { Attributes } from '../markup/markup-events.js'
import type { Block, Picture } from '../parsed.js'
import { toCommentBlock } from './comments.js'
import { toPictureBlocks } from './embedded-pictures.js'
import { OdfObjectReader } from './odf-object-reader.js'
import { formatCellName } from './sheet-cells.js'

/** Sources of pictures and charts to which an OpenDocument sheet refers. */
export interface OdsSources {
  picture(source: string): Picture | undefined
  object(href: string): Block[]
}

/** Maximal number of blocks of one sheet in addition to its cells. */
const MAX_BLOCKS = 5000
const MAX_TEXT = 20_000

interface OpenDrawing {
  remark?: { author: string; cell: string }
  lines: string[]
  alt: string
  image?: string
  binary?: string[]
}

/** Collects comments, text boxes, pictures and charts of a sheet from its drawing elements. */
export class OdsExtrasReader {
  readonly #sources: OdsSources
  #blocks: Block[] = []
  /** Names of open elements, from the outermost drawing element on. */
  readonly #path: string[] = []
  #drawing: OpenDrawing | undefined
  /** A chart stored in the text itself, and its depth. */
  #object: { reader: OdfObjectReader; depth: number } | undefined

  constructor(sources: OdsSources) {
    this.#sources = sources
  }

  /** @returns whether the element was handled */
  opens(name: string, attributes: Attributes, row: number, column: number): boolean {
    const isDrawn = name === 'office:annotation' || (name.startsWith('draw:') && name !== 'draw:g')
    if (this.#path.length === 0 && !isDrawn) return name === 'table:shapes' || name === 'draw:g'
    this.#path.push(name)
    if (this.#object !== undefined) {
      this.#object.reader.open(name, attributes)
      return true
    }
    if (this.#path.length === 1) {
      this.#drawing = { lines: [], alt: '' }
      if (name === 'office:annotation') this.#drawing.remark = { author: '', cell: formatCellName(row, column) }
    }
    const drawing = this.#drawing
    if (drawing === undefined) return true
    if (name === 'text:p') drawing.lines.push('')
    else if (name === 'text:s' || name === 'text:tab' || name === 'text:line-break') this.text(' ')
    else if (name === 'draw:image') drawing.image = attributes.get('xlink:href') ?? ''
    else if (name === 'office:binary-data') drawing.binary = []
    else if (name === 'draw:object' || name === 'draw:object-ole')
      this.#add(this.#sources.object(attributes.get('xlink:href') ?? ''))
    else if (name === 'office:document') this.#object = { reader: new OdfObjectReader(), depth: this.#path.length }
    return true
  }

  /** @returns whether the element was handled */
  closes(name: string): boolean {
    if (this.#path.length === 0) return name === 'table:shapes' || name === 'draw:g'
    if (this.#object !== undefined && this.#path.length === this.#object.depth) {
      this.#add(this.#object.reader.blocks())
      this.#object = undefined
    } else this.#object?.reader.close(name)
    this.#path.pop()
    if (this.#path.length === 0) this.#finishDrawing()
    return true
  }

  /** @returns whether the text was handled */
  text(text: string): boolean {
    const drawing = this.#drawing
    if (drawing === undefined) return false
    const top = this.#path.at(-1)
    if (this.#object !== undefined) this.#object.reader.text(text)
    else if (top === 'office:binary-data') drawing.binary?.push(text)
    else if (top === 'svg:title' || top === 'svg:desc') drawing.alt = `${drawing.alt} ${text}`.slice(0, MAX_TEXT)
    else if (top === 'dc:creator' && drawing.remark !== undefined) drawing.remark.author += text.slice(0, MAX_TEXT)
    else if (drawing.lines.length > 0 && top !== 'dc:date') {
      const line = drawing.lines.pop() ?? ''
      drawing.lines.push(line.length < MAX_TEXT ? line + text : line)
    }
    return true
  }

  /** Returns the collected blocks of the sheet that ended, and resets. */
  take(): Block[] {
    const blocks = this.#blocks
    this.#blocks = []
    return blocks
  }

  #finishDrawing(): void {
    const drawing = this.#drawing
    this.#drawing = undefined
    if (drawing === undefined) return
    const text = drawing.lines
      .map((line) => line.replace(/\s+/g, ' ').trim())
      .filter((line) => line !== '')
      .join('\n')
    const alt = drawing.alt.replace(/\s+/g, ' ').trim()
    if (drawing.remark !== undefined) {
      if (text !== '') this.#add([toCommentBlock({ ...drawing.remark, text })])
      return
    }
    if (text !== '') this.#add([{ type: 'paragraph', text }])
    const bytes = (drawing.binary ?? []).join('').replace(/\s+/g, '')
    const source = bytes === '' ? (drawing.image ?? '') : `data:image/png;base64,${bytes}`
    const picture = source === '' ? undefined : this.#sources.picture(source)
    this.#add(toPictureBlocks(picture, alt))
  }

  #add(blocks: readonly Block[]): void {
    if (this.#blocks.length < MAX_BLOCKS) this.#blocks.push(...blocks)
  }
}
