import type { BoundingBox } from '../../store/compiled.js'
import { type Attributes, type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import { MathTree } from '../math/math-tree.js'
import { convertOmml } from '../math/omml.js'
import type { PlacedCell } from '../tables/grid.js'

export interface SlideParagraph {
  text: string
  /** Level of its bullet, 0 for the outermost. */
  level: number
  /** Whether the paragraph itself sets a bullet or none; absent: the default of its placeholder. */
  bullet?: boolean
  /** Its formulas in LaTeX. */
  formulas?: string[]
}

/** A shape of a slide; shapes are in the order of the file. */
export type SlideShape =
  /** `placeholder`: its type as in `p:ph` (`obj` without one); absent for text boxes */
  | { kind: 'text'; placeholder?: string; paragraphs: SlideParagraph[] }
  | { kind: 'table'; rows: PlacedCell[][] }
  /** `relation`: id of the picture, `alt`: its description, `box`: its location, unless it is in a group */
  | { kind: 'picture'; relation: string; alt: string; box?: BoundingBox }
  /** `relation`: id of the part with the texts of a diagram */
  | { kind: 'diagram'; relation: string }
  /** `relation`: id of the part with the values of a chart */
  | { kind: 'chart'; relation: string }

/** English Metric Units in a point. */
const EMU_PER_POINT = 12_700
/** PowerPoint has five bullet levels; more are noise. */
const MAX_LEVEL = 8

/** Parses the shapes of a slide, a page of notes or a diagram (PresentationML and DrawingML), with groups flattened. */
export function readShapes(xml: string): SlideShape[] {
  const reader = new ShapeReader()
  readMarkup(xml, reader, 'xml')
  return reader.finish()
}

/** The texts of a diagram (SmartArt), in the order of its data. */
export function readShapeLines(xml: string): string[] {
  return readShapes(xml).flatMap((shape) =>
    shape.kind === 'text' ? shape.paragraphs.map(({ text }) => text.replaceAll('\n', ' ')) : [],
  )
}

class ShapeReader implements MarkupHandler {
  readonly #shapes: SlideShape[] = []
  #placeholder: string | undefined
  #paragraphs: SlideParagraph[] = []
  #paragraph: SlideParagraph | undefined
  #inProperties = false
  #inText = false
  #rows: PlacedCell[][] | undefined
  /** The open cell; undefined also for the rest of a merged one. */
  #cell: PlacedCell | undefined
  #column = 0
  #math: MathTree | undefined
  #alt = ''
  #groups = 0
  #openPicture: { box?: BoundingBox } | undefined
  #offset = { x: 0, y: 0 }
  /** Depth inside fallback content for older programs, which repeats the content next to it. */
  #fallback = 0

  open(name: string, attributes: Attributes): void {
    if (this.#math !== undefined) this.#math.open(name, attributes)
    else if (this.#fallback > 0 || name === 'mc:Fallback') {
      if (name === 'mc:Fallback') this.#fallback++
    } else if (name === 'a:p') {
      this.#paragraph = { text: '', level: 0 }
    } else if (name === 'a:pPr') {
      this.#inProperties = true
      const level = Number(attributes.get('lvl') ?? 0)
      if (this.#paragraph !== undefined && level > 0) this.#paragraph.level = Math.min(Math.floor(level), MAX_LEVEL)
    } else if (this.#inProperties) {
      this.#bullet(name)
    } else if (name === 'a:t') {
      this.#inText = true
    } else if (name.startsWith('m:oMath')) {
      this.#math = new MathTree(name)
    } else if (name === 'a:br') {
      if (this.#paragraph !== undefined) this.#paragraph.text += '\n'
    } else {
      this.#openShape(name, attributes)
    }
  }

  close(name: string): void {
    if (this.#math !== undefined) {
      this.#math.close(name)
      if (this.#math.isClosed) this.#closeMath(this.#math)
    } else if (this.#fallback > 0) {
      if (name === 'mc:Fallback') this.#fallback--
    } else if (name === 'a:t') this.#inText = false
    else if (name === 'a:pPr') this.#inProperties = false
    else if (name === 'a:p') this.#closeParagraph()
    else if (name === 'p:sp') this.#closeText()
    else if (name === 'p:pic') this.#openPicture = undefined
    else if (name === 'p:grpSp') this.#groups--
    else if (name === 'a:tc') this.#closeCell()
    else if (name === 'a:tbl') this.#closeTable()
  }

  text(text: string): void {
    if (this.#math !== undefined) this.#math.text(text)
    else if (this.#fallback === 0 && this.#inText && this.#paragraph !== undefined) this.#paragraph.text += text
  }

  finish(): SlideShape[] {
    this.#closeParagraph()
    if (this.#rows !== undefined) this.#closeTable()
    this.#closeText()
    this.#describe('')
    return this.#shapes
  }

  #openShape(name: string, attributes: Attributes): void {
    if (name === 'p:sp') this.#closeText()
    else if (name === 'p:ph') this.#placeholder = attributes.get('type') ?? 'obj'
    else if (name === 'p:cNvPr') this.#describe(attributes.get('descr')?.trim() ?? '')
    else if (name === 'a:tbl') this.#openTable()
    else if (name === 'a:tr') this.#openRow()
    else if (name === 'a:tc') this.#openCell(attributes)
    else if (name === 'p:grpSp') this.#groups++
    else if (name === 'a:off') this.#offset = { x: toPoints(attributes.get('x')), y: toPoints(attributes.get('y')) }
    else if (name === 'a:ext') this.#setBox(toPoints(attributes.get('cx')), toPoints(attributes.get('cy')))
    else if (name === 'a:blip') this.#addReference('picture', attributes.get('r:embed'))
    else if (name === 'dgm:relIds') this.#addReference('diagram', attributes.get('r:dm'))
    else if (name === 'c:chart' || name === 'cx:chart') this.#addReference('chart', attributes.get('r:id'))
  }

  #addReference(kind: 'picture' | 'diagram' | 'chart', relation: string | undefined): void {
    if (relation === undefined) return
    if (kind !== 'picture') this.#shapes.push({ kind, relation })
    else {
      const picture: SlideShape = { kind, relation, alt: this.#alt }
      this.#alt = ''
      this.#shapes.push(picture)
      this.#openPicture = this.#groups === 0 ? picture : undefined
    }
  }

  /** Sets the box of a picture: its size follows the reference, directly after its corner. */
  #setBox(width: number, height: number): void {
    if (this.#openPicture !== undefined && width > 0 && height > 0)
      this.#openPicture.box = { ...this.#offset, width, height }
    this.#openPicture = undefined
  }

  #bullet(name: string): void {
    if (this.#paragraph === undefined) return
    if (name === 'a:buNone') this.#paragraph.bullet = false
    else if (name === 'a:buChar' || name === 'a:buAutoNum' || name === 'a:buBlip') this.#paragraph.bullet = true
  }

  #openTable(): void {
    this.#closeText()
    this.#rows = []
  }

  #closeParagraph(): void {
    const paragraph = this.#paragraph
    this.#paragraph = undefined
    this.#inProperties = false
    this.#inText = false
    if (paragraph === undefined) return
    paragraph.text = paragraph.text.replace(/[\t\v\u00a0 ]+/g, ' ').trim()
    if (paragraph.text !== '') this.#paragraphs.push(paragraph)
  }

  #openRow(): void {
    this.#rows?.push([])
    this.#column = 0
  }

  /** The rest of a merged cell is a cell without text, at its column. */
  #openCell(attributes: Attributes): void {
    const isRest = ['hMerge', 'vMerge'].some((merge) => /^(?:1|true)$/.test(attributes.get(merge) ?? ''))
    const columns = toSpan(attributes.get('gridSpan'))
    this.#cell = isRest
      ? undefined
      : { text: '', column: this.#column, columns, rows: toSpan(attributes.get('rowSpan')) }
    this.#column++
    if (this.#cell !== undefined) this.#rows?.at(-1)?.push(this.#cell)
  }

  #closeCell(): void {
    const texts = this.#paragraphs.map((paragraph) => paragraph.text.replaceAll('\n', ' '))
    this.#paragraphs = []
    if (this.#cell !== undefined) this.#cell.text = texts.join(' ')
    this.#cell = undefined
  }

  #closeMath(tree: MathTree): void {
    this.#math = undefined
    const { text, latex } = convertOmml(tree.root)
    if (text === '') return
    const paragraph = this.#paragraph ?? { text: '', level: 0 }
    paragraph.text += text
    paragraph.formulas = [...(paragraph.formulas ?? []), latex]
    if (this.#paragraph === undefined) this.#paragraphs.push(paragraph)
  }

  /** Begins a shape. The description of one that is no picture is a text. */
  #describe(text: string): void {
    const previous = this.#alt
    this.#alt = text
    if (previous !== '') this.#shapes.push({ kind: 'text', paragraphs: [{ text: previous, level: 0 }] })
  }

  #closeTable(): void {
    const rows = this.#rows ?? []
    this.#rows = undefined
    this.#paragraphs = []
    if (rows.length > 0) this.#shapes.push({ kind: 'table', rows })
  }

  #closeText(): void {
    if (this.#paragraphs.length > 0) {
      const placeholder = this.#placeholder === undefined ? {} : { placeholder: this.#placeholder }
      this.#shapes.push({ kind: 'text', paragraphs: this.#paragraphs, ...placeholder })
    }
    this.#paragraphs = []
    this.#placeholder = undefined
  }
}

/** PowerPoint has at most 75 rows and columns; more are damage. */
function toSpan(value: string | undefined): number {
  const span = Number(value ?? 1)
  return Number.isInteger(span) && span > 1 && span <= 1000 ? span : 1
}

function toPoints(emu: string | undefined): number {
  const value = Number(emu)
  return Number.isFinite(value) ? Math.round((value / EMU_PER_POINT) * 100) / 100 : 0
}
