import { DroppedElementTracker } from '../markup/dropped-element.js'
import { type Attributes, escapeMarkup, getLocalName, type MarkupHandler, readMarkup } from '../markup/markup-events.js'
import { MathTree } from '../math/math-tree.js'
import { convertMathml } from '../math/mathml.js'
import type { Block } from '../parsed.js'
import { formatCommentHead } from './comments.js'
import { formatMarker } from './insert-markers.js'
import { OdfForms } from './odf-forms.js'
import { OdfStyles } from './odf-styles.js'

/** A part of an OpenDocument text as HTML: the entire text, or one slide. */
export interface OdfSection {
  html: string
  /** 1-based; only of slides. */
  page?: number
  /** Only of slides that are hidden in the show. */
  isHidden?: true
}

/** An object in a text: its reference, or its blocks where it is stored in the text itself. */
export type OdfObject = string | Block[]

/** Prefix in the `src` of pictures, before the name of their part in the archive. */
export const PART_SCHEME = 'part:'

/**
 * Elements that are skipped: old versions, forms, dates of comments, and tables of contents, whose lines occur again as
 * headings.
 */
const SKIPPED = new Set(
  (
    'text:tracked-changes dc:creator dc:date meta:date-string meta:creator-initials text:sequence-decls text:table-of-content office:forms office:scripts ' +
    'svg:title svg:desc text:note-citation table:covered-table-cell text:variable-decls text:user-field-decls presentation:settings'
  ).split(' '),
)
/** Comments; those of slides have a LibreOffice name. */
const COMMENTS = new Set(['office:annotation', 'officeooo:annotation', 'loext:annotation'])
/** Frames that are repeated on every slide. */
const RUNNING_FRAMES = new Set(['page-number', 'date-time', 'footer', 'header'])
/** Maximal nesting of notes and text boxes that are moved after their paragraph. */
const MAX_ASIDE_DEPTH = 8

/**
 * Converts the body of an OpenDocument text or presentation (ODF 1.3, part 3) to HTML, slide by slide.
 *
 * @param objects receives charts and formulas; the HTML has markers with their indexes
 */
export function readOdfText(xml: string, objects: OdfObject[] = []): OdfSection[] {
  const reader = new OdfTextReader(objects)
  readMarkup(xml, reader, 'xml')
  return reader.finish()
}

class OdfTextReader implements MarkupHandler {
  readonly #sections: OdfSection[] = []
  /** Automatic styles and their parents. */
  readonly #parents = new Map<string, string>()
  readonly #numbered = new Set<string>()
  readonly #styles = new OdfStyles()
  readonly #frames: string[] = []
  /** For each open span, whether it has a tag. */
  readonly #spans: boolean[] = []
  /** Tags of open paragraphs and lists. */
  readonly #paragraphs: string[] = []
  readonly #lists: string[] = []
  /** Texts of open notes and boxes, and those to insert after the current paragraph. */
  readonly #asides: string[][] = []
  #afterParagraph: string[] = []
  #parts: string[] = []
  #page: number | undefined
  #listStyle = ''
  #inBody = false
  #headerRows = 0
  /** The picture of the open frame. Its alternative text follows it. */
  #picture: { parts: string[]; at: number; alt: string } | undefined
  #inDescription = false
  /** The open comment: its author, and whether the author was written. */
  #comment: { author: string; isSaid: boolean } | undefined
  #inCreator = false
  readonly #objects: OdfObject[]
  readonly #forms = new OdfForms()
  #math: MathTree | undefined
  #description = ''
  /** Whether the open frame has a chart or formula, whose description is made by the program. */
  #hasObject = false
  readonly #hiddenStyles = new Set<string>()
  #styleName = ''
  #isHidden = false
  readonly #dropped = new DroppedElementTracker()
  /** Base64 of a picture that is stored in the text itself. */
  #binary: string[] | undefined

  constructor(objects: OdfObject[]) {
    this.#objects = objects
  }

  open(name: string, attributes: Attributes): void {
    if (this.#math !== undefined) {
      this.#math.open(name, attributes)
      return
    }
    if (name.startsWith('form:')) this.#forms.readControl(name, attributes)
    const isRunning = name === 'draw:frame' && RUNNING_FRAMES.has(attributes.get('presentation:class') ?? '')
    if (this.#dropped.open(name, isRunning || SKIPPED.has(name))) {
      this.#inDescription = name === 'svg:desc' || name === 'svg:title'
      this.#inCreator = name === 'dc:creator'
      return
    }
    if (!this.#inBody) {
      this.#openStyle(name, attributes)
    } else if (name === 'text:h' || name === 'text:p') {
      this.#openParagraph(name, attributes)
    } else if (name === 'text:note-body' || name === 'draw:text-box') {
      this.#openAside()
    } else if (COMMENTS.has(name)) {
      this.#openAside()
      this.#comment = { author: '', isSaid: false }
    } else if (name === 'draw:frame') {
      this.#frames.push(attributes.get('presentation:class') ?? '')
      this.#hasObject = false
    } else if (name === 'draw:page') {
      this.#openPage(attributes)
    } else {
      this.#openInline(name, attributes)
    }
  }

  close(name: string): void {
    if (this.#math !== undefined) {
      this.#math.close(name)
      if (this.#math.isClosed) this.#closeMath(this.#math)
      return
    }
    if (this.#dropped.close(name)) {
      this.#closeDescription()
      this.#inDescription = false
      this.#inCreator = false
      return
    }
    if (name === 'text:h' || name === 'text:p') this.#closeParagraph()
    else if (name === 'text:note-body' || name === 'draw:text-box') this.#closeAside()
    else if (COMMENTS.has(name)) {
      this.#comment = undefined
      this.#closeAside()
    } else if (name === 'draw:frame') this.#closeFrame()
    else if (name === 'office:binary-data') this.#closeBinary()
    else if (name === 'field:fieldmark') this.#parts.push(escapeMarkup(this.#forms.closeField()))
    else if (name === 'text:ruby') this.#parts.push('</ruby>')
    else if (name === 'text:ruby-text') this.#parts.push('</rt>')
    else if (name === 'text:span') this.#closeSpan()
    else if (name === 'text:list') this.#parts.push(`</${this.#lists.pop() ?? 'ul'}>`)
    else if (name === 'text:list-item' || name === 'text:list-header') this.#parts.push('</li>')
    else if (name === 'table:table') this.#parts.push('</table>')
    else if (name === 'table:table-row') this.#parts.push('</tr>')
    else if (name === 'table:table-cell') this.#parts.push(this.#headerRows > 0 ? '</th>' : '</td>')
    else if (name === 'table:table-header-rows') this.#headerRows = Math.max(0, this.#headerRows - 1)
  }

  text(text: string): void {
    if (this.#math !== undefined) this.#math.text(text)
    else if (this.#inCreator && this.#comment !== undefined) this.#comment.author += text
    else if (this.#inDescription && this.#picture !== undefined) this.#picture.alt += ` ${text}`
    else if (this.#inDescription && !this.#hasObject) this.#description += text
    else if (this.#binary !== undefined) this.#binary.push(text)
    else if (!this.#dropped.isActive && this.#paragraphs.length > 0) this.#parts.push(escapeMarkup(text))
  }

  finish(): OdfSection[] {
    while (this.#asides.length > 0) this.#closeAside()
    this.#endSection()
    return this.#sections
  }

  #openStyle(name: string, attributes: Attributes): void {
    this.#styles.open(name, attributes)
    if (name === 'office:body') this.#inBody = true
    else if (name === 'style:drawing-page-properties') {
      if (attributes.get('presentation:visibility') === 'hidden') this.#hiddenStyles.add(this.#styleName)
    } else if (name === 'style:style') {
      this.#styleName = attributes.get('style:name') ?? ''
      const parent = attributes.get('style:parent-style-name')
      if (parent !== undefined) this.#parents.set(attributes.get('style:name') ?? '', parent)
    } else if (name === 'text:list-style') this.#listStyle = attributes.get('style:name') ?? ''
    else if (name === 'text:list-level-style-number' && attributes.get('text:level') === '1') {
      this.#numbered.add(this.#listStyle)
    }
  }

  #openParagraph(name: string, attributes: Attributes): void {
    const style = attributes.get('text:style-name') ?? ''
    const level = name === 'text:h' ? getOutlineLevel(attributes) : this.#styleLevel(this.#parents.get(style) ?? style)
    const tag = level === 0 ? 'p' : `h${Math.min(level, 6)}`
    this.#parts.push(`<${tag}${level === 0 ? this.#styles.attribute(style) : ''}>`)
    this.#paragraphs.push(tag)
    if (this.#comment?.isSaid !== false) return
    this.#comment.isSaid = true
    this.#parts.push(escapeMarkup(formatCommentHead(this.#comment.author)))
  }

  #closeParagraph(): void {
    const tag = this.#paragraphs.pop()
    if (tag !== undefined) this.#parts.push(`</${tag}>`)
    if (this.#paragraphs.length > 0) return
    for (const part of this.#afterParagraph) this.#parts.push(part)
    this.#afterParagraph = []
  }

  /** The heading level of a style; 0 for text. */
  #styleLevel(style: string): number {
    if (this.#frames.at(-1) === 'title' || style === 'Title') return 1
    return Number(/^Heading_20_([1-9])$/.exec(style)?.[1] ?? 0)
  }

  /** Moves notes, boxes and comments within a paragraph to after it. */
  #openAside(): void {
    if (this.#asides.length >= MAX_ASIDE_DEPTH || this.#paragraphs.length === 0) return
    this.#asides.push(this.#parts)
    this.#parts = []
  }

  #closeAside(): void {
    const outer = this.#asides.pop()
    if (outer === undefined) return
    for (const part of this.#parts) this.#afterParagraph.push(part)
    this.#parts = outer
  }

  #closeFrame(): void {
    this.#frames.pop()
    const { parts, at, alt } = this.#picture ?? { parts: [], at: 0, alt: '' }
    this.#picture = undefined
    const image = parts[at]
    if (image !== undefined && alt.trim() !== '')
      parts[at] = image.replace('<img ', () => `<img alt="${escapeMarkup(alt.trim())}" `)
  }

  #openPage(attributes: Attributes): void {
    this.#endSection()
    this.#isHidden = this.#hiddenStyles.has(attributes.get('draw:style-name') ?? '')
    this.#page = (this.#page ?? 0) + 1
  }

  #endSection(): void {
    const html = [...this.#parts, ...this.#afterParagraph].join('')
    if (this.#page !== undefined)
      this.#sections.push({ html, page: this.#page, ...(this.#isHidden ? { isHidden: true } : {}) })
    else if (html !== '') this.#sections.push({ html })
    this.#parts = []
    this.#afterParagraph = []
    this.#paragraphs.length = 0
    this.#frames.length = 0
  }

  #openInline(name: string, attributes: Attributes): void {
    if (name === 'text:s' || name === 'text:tab') this.#parts.push(' ')
    else if (name === 'text:line-break') this.#parts.push('<br>')
    else if (name === 'text:span') this.#openSpan(attributes)
    else if (name === 'text:list') this.#openList(attributes)
    else if (name === 'text:list-item' || name === 'text:list-header') this.#parts.push('<li>')
    else if (name === 'table:table') this.#parts.push('<table>')
    else if (name === 'table:table-row') this.#parts.push('<tr>')
    else if (name === 'table:table-header-rows') this.#headerRows++
    else if (name === 'table:table-cell')
      this.#parts.push(`<${this.#headerRows > 0 ? 'th' : 'td'}${formatSpans(attributes)}>`)
    else if (name === 'draw:object' || name === 'draw:object-ole') this.#openObject(attributes.get('xlink:href') ?? '')
    else if (name === 'office:binary-data') this.#binary = []
    else if (getLocalName(name) === 'math') this.#math = new MathTree(name)
    else if (name === 'draw:control') this.#addControl(attributes.get('draw:control'))
    else if (name.startsWith('field:')) this.#forms.openField(name, attributes)
    else if (name === 'text:ruby') this.#parts.push('<ruby>')
    else if (name === 'text:ruby-text') this.#parts.push('<rt>')
    else if (name === 'draw:image') {
      const part = attributes.get('xlink:href') ?? ''
      if (part === '') return
      this.#picture = { parts: this.#parts, at: this.#parts.length, alt: '' }
      this.#parts.push(`<img src="${PART_SCHEME}${escapeMarkup(part)}">`)
    }
  }

  /** Inserts a marker for a chart, a formula or a file in a separate part. */
  #openObject(href: string): void {
    this.#hasObject = true
    if (href !== '') this.#addObject(href)
  }

  /** A formula that is stored in the text itself. */
  #closeMath(tree: MathTree): void {
    this.#math = undefined
    const { text, latex } = convertMathml(tree.root)
    if (text !== '') this.#addObject([{ type: 'paragraph', text, metadata: { formulas: [latex] } }])
  }

  #addObject(object: OdfObject): void {
    const marker = formatMarker(this.#objects.push(object) - 1)
    this.#parts.push(this.#paragraphs.length > 0 ? marker : `<p>${marker}</p>`)
  }

  #addControl(id: string | undefined): void {
    const text = escapeMarkup(this.#forms.formatControl(id))
    this.#parts.push(this.#paragraphs.length > 0 ? ` ${text} ` : `<p>${text}</p>`)
  }

  /** The description of a shape that is no picture is a text. */
  #closeDescription(): void {
    if (!this.#inDescription || this.#description.trim() === '') return
    const text = `<p>${escapeMarkup(this.#description.trim())}</p>`
    this.#description = ''
    if (this.#paragraphs.length > 0) this.#afterParagraph.push(text)
    else this.#parts.push(text)
  }

  /** The actual type of the picture is determined from its bytes later. */
  #closeBinary(): void {
    const bytes = (this.#binary ?? []).join('').replace(/\s+/g, '')
    this.#binary = undefined
    if (bytes === '') return
    this.#picture = { parts: this.#parts, at: this.#parts.length, alt: '' }
    this.#parts.push(`<img src="data:image/png;base64,${escapeMarkup(bytes)}">`)
  }

  #openSpan(attributes: Attributes): void {
    const style = this.#styles.attribute(attributes.get('text:style-name'))
    this.#spans.push(style !== '')
    if (style !== '') this.#parts.push(`<span${style}>`)
  }

  #closeSpan(): void {
    if (this.#spans.pop() === true) this.#parts.push('</span>')
  }

  #openList(attributes: Attributes): void {
    const style = attributes.get('text:style-name')
    const inherited = this.#lists.at(-1) ?? 'ul'
    const tag = style === undefined ? inherited : this.#numbered.has(style) ? 'ol' : 'ul'
    this.#lists.push(tag)
    this.#parts.push(`<${tag}>`)
  }
}

function getOutlineLevel(attributes: Attributes): number {
  const level = Number(attributes.get('text:outline-level') ?? 1)
  return level >= 1 && level <= 10 ? Math.floor(level) : 1
}

function formatSpans(attributes: Attributes): string {
  const columns = attributes.get('table:number-columns-spanned') ?? ''
  const rows = attributes.get('table:number-rows-spanned') ?? ''
  return `${/^\d{1,4}$/.test(columns) ? ` colspan="${columns}"` : ''}${/^\d{1,4}$/.test(rows) ? ` rowspan="${rows}"` : ''}`
}
