import { DroppedElementTracker } from '../markup/dropped-element.js'
import type { Attributes, MarkupHandler } from '../markup/markup-events.js'
import { joinReading } from '../markup/ruby.js'
import { MathTree } from '../math/math-tree.js'
import { convertOmml } from '../math/omml.js'
import type { Block } from '../parsed.js'
import { WordContent } from './word-content.js'
import { CHECK_SIGNS, WordFields } from './word-fields.js'
import type { WordObjectKind } from './word-objects.js'
import type { WordSource } from './word-source.js'
import { applyRunProperty, type WordRunStyle } from './word-styles.js'
import { findSymbol, replaceSymbols } from './word-symbols.js'

/** Elements that are skipped: deleted and moved text, former properties, page layout. */
const DROPPED = new Set(
  'w:del w:moveFrom w:sectPr w:rubyPr w:pPrChange w:rPrChange w:tblPrChange w:tblPrExChange w:tcPrChange w:trPrChange w:tblGridChange w:numberingChange w:docDefaults w:latentStyles'.split(
    ' ',
  ),
)
/** Containers of separate texts in one part. */
const STORIES = new Set(['w:footnote', 'w:endnote'])

const DRAWINGS = new Set(['w:drawing', 'w:pict', 'w:object'])

interface OpenControl {
  checked: boolean | undefined
  hasSign: boolean
}

/** Reads a text in WordprocessingML (ISO/IEC 29500-1, 17): the body of a document, its notes, a header. */
export class WordTextReader implements MarkupHandler {
  /** Whether tags do not match. */
  isMalformed = false
  readonly #source: WordSource
  readonly #content: WordContent
  readonly #path: string[] = []
  readonly #dropped = new DroppedElementTracker()
  readonly #fields = new WordFields()
  readonly #controls: OpenControl[] = []
  /** For each open `mc:AlternateContent`, the amount of content before it, and whether a choice had some. */
  readonly #alternatives: { before: number; isRead: boolean }[] = []
  /** Texts of open readings and their words, which are joined. */
  readonly #ruby: { base: string; reading: string; part: 'base' | 'reading' | undefined }[] = []
  #run: WordRunStyle = {}
  #links = 0
  #math: MathTree | undefined
  /** Descriptions of the open drawings that no picture has taken yet. */
  readonly #descriptions: string[] = []
  #isText = false
  #isInstruction = false

  constructor(source: WordSource) {
    this.#source = source
    this.#content = new WordContent(source)
  }

  open(name: string, attributes: Attributes): void {
    if (this.#math !== undefined) {
      this.#math.open(name, attributes)
      return
    }
    const parent = this.#path.at(-1) ?? ''
    this.#path.push(name)
    if (!this.#dropped.isActive) this.#readMark(name, parent)
    const isRead = name === 'mc:Fallback' && this.#alternatives.at(-1)?.isRead === true
    if (this.#dropped.open(name, isRead || DROPPED.has(name))) return
    if (parent === 'w:rPr') this.#openRunProperty(name, attributes)
    else if (parent === 'w:pPr' || parent === 'w:numPr') this.#content.openParagraphProperty(name, attributes)
    else if (name.startsWith('m:oMath')) this.#math = new MathTree(name)
    else this.#openElement(name, attributes)
  }

  close(name: string): void {
    if (this.#math !== undefined) {
      this.#math.close(name)
      if (this.#math.isClosed) this.#closeMath(this.#math)
      return
    }
    if (this.#path.pop() !== name) this.isMalformed = true
    if (this.#dropped.close(name)) return
    if (name === 'w:t' || name === 'a:t') this.#isText = false
    else if (name === 'w:instrText') this.#isInstruction = false
    else if (name === 'w:p' || name === 'a:p') this.#closeParagraph(name)
    else if (name === 'w:hyperlink') this.#link(undefined)
    else if (name === 'w:tbl' || name === 'w:tr' || name === 'w:tc' || name === 'w:txbxContent')
      this.#content.close(name)
    else if (STORIES.has(name)) this.#content.endStory()
    else if (name === 'w:sdt') this.#controls.pop()
    else if (DRAWINGS.has(name)) this.#closeDrawing()
    else if (name === 'w:ruby') this.#closeRuby()
    else if (name === 'w:rt' || name === 'w:rubyBase') this.#setRubyPart(undefined)
    else if (name === 'mc:Choice') this.#closeChoice()
    else if (name === 'mc:AlternateContent') this.#alternatives.pop()
  }

  text(text: string): void {
    if (this.#math !== undefined) this.#math.text(text)
    else if (this.#dropped.isActive) return
    else if (this.#isInstruction) this.#fields.instruct(text)
    else if (this.#isText) this.#addText(replaceSymbols(text, this.#run.font))
  }

  /** The blocks of the body, or of a part that has one text. */
  finish(): Block[] {
    if (this.#path.length > 0) this.isMalformed = true
    return this.#content.finish()
  }

  /** The blocks of notes by their ids. */
  get stories(): ReadonlyMap<string, Block[]> {
    return this.#content.stories
  }

  /** A deleted end of a paragraph, and a deleted row, are marked in the properties. */
  #readMark(name: string, parent: string): void {
    if (name !== 'w:del' && name !== 'w:moveFrom') return
    if (parent === 'w:trPr') this.#content.dropRow()
    else if (parent === 'w:rPr' && this.#path.at(-3) === 'w:pPr') this.#content.markDeleted()
  }

  #openRunProperty(name: string, attributes: Attributes): void {
    // the properties of the end of a paragraph are not those of its text
    if (this.#path.at(-3) !== 'w:r') return
    if (name === 'w:rStyle') this.#run = { ...this.#run, ...this.#source.styles.run(attributes.get('w:val') ?? '') }
    else applyRunProperty(this.#run, name, attributes)
  }

  #openElement(name: string, attributes: Attributes): void {
    switch (name) {
      case 'w:t':
      case 'a:t':
        this.#isText = true
        return
      case 'w:r':
        this.#run = { ...this.#content.paragraphStyle?.run }
        return
      case 'w:p':
        this.#content.openParagraph()
        return
      case 'a:p':
        this.#content.open('w:txbxContent', attributes)
        this.#content.openParagraph()
        return
      case 'w:tab':
      case 'w:ptab':
        // not a position in the properties of a paragraph
        if (this.#path.at(-2) !== 'w:tabs') this.#addText('\t')
        return
      case 'w:br':
      case 'w:cr':
      case 'a:br':
        this.#addText('\n')
        return
      case 'w:noBreakHyphen':
        this.#addText('\u2011')
        return
      case 'w:sym':
        this.#addText(
          findSymbol(attributes.get('w:font') ?? '', Number.parseInt(attributes.get('w:char') ?? '', 16)) ?? '',
        )
        return
      case 'w:instrText':
        this.#isInstruction = true
        return
      case 'w:footnoteReference':
      case 'w:endnoteReference':
        this.#addNote(name === 'w:footnoteReference' ? 'footnote' : 'endnote', attributes.get('w:id') ?? '')
        return
      case 'w:commentReference':
        this.#content.addAfter(this.#source.comment(attributes.get('w:id') ?? ''))
        return
      case 'w:hyperlink':
        this.#link(attributes.get('w:anchor') ?? '')
        return
      case 'w:bookmarkStart':
        this.#source.outline.addId(attributes.get('w:name'))
        return
      case 'w:sdt':
        this.#controls.push({ checked: undefined, hasSign: false })
        return
      case 'w14:checked': {
        const control = this.#controls.at(-1)
        if (control !== undefined) control.checked = /^(?:1|true|on)$/.test(attributes.get('w14:val') ?? '1')
        return
      }
      case 'w:ruby':
        this.#ruby.push({ base: '', reading: '', part: undefined })
        return
      case 'w:rt':
      case 'w:rubyBase':
        this.#setRubyPart(name === 'w:rt' ? 'reading' : 'base')
        return
      case 'mc:AlternateContent':
        this.#alternatives.push({ before: 0, isRead: false })
        return
      case 'mc:Choice': {
        const alternative = this.#alternatives.at(-1)
        if (alternative !== undefined) alternative.before = this.#content.amount
        return
      }
      case 'w:footnote':
      case 'w:endnote':
        this.#content.beginStory(attributes.get('w:id') ?? '')
        return
      default:
        this.#openObject(name, attributes)
    }
  }

  #openObject(name: string, attributes: Attributes): void {
    if (/^w:(?:fldChar|ddList|checkBox|default|checked|result|listEntry)$/.test(name)) {
      const shown = this.#fields.element(name, attributes)
      if (shown !== '') this.#content.addText(shown, this.#run, false)
    } else if (DRAWINGS.has(name)) this.#descriptions.push('')
    else if (name === 'wp:docPr' || name === 'pic:cNvPr' || name === 'v:shape') this.#describe(attributes)
    else if (name === 'a:blip') this.#addObject('picture', attributes.get('r:embed') ?? attributes.get('r:link'))
    else if (name === 'v:imagedata') this.#addObject('picture', attributes.get('r:id') ?? attributes.get('r:pict'))
    else if (name === 'c:chart' || name === 'cx:chart') this.#addObject('chart', attributes.get('r:id'))
    else if (name === 'dgm:relIds') this.#addObject('diagram', attributes.get('r:dm'))
    else if (name === 'o:OLEObject') this.#addObject('file', attributes.get('r:id'))
    else if (name === 'w:altChunk') this.#addObject('chunk', attributes.get('r:id'))
    else if (name === 'v:textpath') {
      const words = attributes.get('string')?.trim() ?? ''
      if (words !== '') this.#content.addAfter([{ type: 'paragraph', text: words }])
    } else this.#content.open(name, attributes)
  }

  #addText(text: string): void {
    if (this.#fields.isInstruction) return
    const ruby = this.#ruby.at(-1)
    if (ruby !== undefined) {
      if (ruby.part !== undefined) ruby[ruby.part] += text
      return
    }
    this.#fields.addResult()
    const control = this.#controls.at(-1)
    // the sign of a check box may be one of a font that has other signs
    if (control?.checked !== undefined && text.trim().length <= 2) {
      if (control.hasSign || text.trim() === '') return
      control.hasSign = true
      this.#content.addText(control.checked ? CHECK_SIGNS.on : CHECK_SIGNS.off, this.#run, false)
      return
    }
    this.#source.outline.text(text)
    this.#content.addText(text, this.#run, this.#links > 0)
  }

  #addNote(kind: 'footnote' | 'endnote', id: string): void {
    const { label, blocks } = this.#source.note(kind, id)
    this.#content.addText(label, this.#run, false)
    this.#content.addAfter(blocks)
  }

  #addObject(kind: WordObjectKind, relation: string | undefined): void {
    const description = kind === 'picture' ? (this.#descriptions.at(-1) ?? '') : ''
    const blocks = relation === undefined ? [] : this.#source.object(kind, relation, description)
    if (kind === 'chunk') this.#content.addBlocks(blocks)
    else this.#content.addAfter(blocks)
    if (description !== '' && blocks.length > 0) this.#descriptions[this.#descriptions.length - 1] = ''
  }

  #describe(attributes: Attributes): void {
    const text = (attributes.get('descr') ?? attributes.get('title') ?? attributes.get('alt') ?? '').trim()
    if (text !== '' && this.#descriptions.at(-1) === '') this.#descriptions[this.#descriptions.length - 1] = text
  }

  /** A shape or chart with a description, which is not a picture, has it as a paragraph. */
  #closeDrawing(): void {
    const text = this.#descriptions.pop() ?? ''
    if (text !== '') this.#content.addAfter([{ type: 'paragraph', text }])
  }

  #closeMath(tree: MathTree): void {
    this.#math = undefined
    this.#path.pop()
    if (this.#fields.isInstruction) return
    this.#fields.addResult()
    this.#content.addFormula(convertOmml(tree.root))
  }

  #closeParagraph(name: string): void {
    this.#content.closeParagraph()
    this.#fields.endParagraph()
    if (name === 'a:p') this.#content.close('w:txbxContent')
  }

  /** @param anchor bookmark in the document; undefined at the end of the link */
  #link(anchor: string | undefined): void {
    this.#links = Math.max(0, this.#links + (anchor === undefined ? -1 : 1))
    this.#source.outline.setLink(anchor === undefined || anchor === '' ? undefined : `#${anchor}`)
  }

  #setRubyPart(part: 'base' | 'reading' | undefined): void {
    const ruby = this.#ruby.at(-1)
    if (ruby !== undefined) ruby.part = part
  }

  #closeRuby(): void {
    const ruby = this.#ruby.pop()
    if (ruby !== undefined) this.#addText(joinReading(ruby.base, ruby.reading.trim()))
  }

  #closeChoice(): void {
    const alternative = this.#alternatives.at(-1)
    if (alternative !== undefined) alternative.isRead ||= this.#content.amount > alternative.before
  }
}
