import { omitUndefined } from '../../../lib/omit-undefined.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, Parser, ParserInput } from '../parsed.js'
import { matchBraces, readLatexHead, removeLatexComments } from './latex-source.js'
import { readLatexTable } from './latex-table.js'
import { latexToText, SIZED_ENVIRONMENT } from './latex-text.js'

const DIVISION_LEVELS: Record<string, number> = {
  part: 1,
  chapter: 2,
  section: 3,
  subsection: 4,
  subsubsection: 5,
  paragraph: 6,
  subparagraph: 7,
}
const CODE_ENVIRONMENT = /^(?:Highlighting|verbatim|Verbatim|lstlisting|minted|alltt|BVerbatim|code)\*?$/
const FORMULA_ENVIRONMENT =
  /^(?:equation|align|alignat|gather|multline|eqnarray|displaymath|math|flalign|IEEEeqnarray|split)\*?$/
const TABLE_ENVIRONMENT = /^(?:tabular|tabularx|tabulary|longtable|supertabular|xltabular|tabu|longtabu|tblr)\*?$/
const LIST_ENVIRONMENT =
  /^(?:itemize|enumerate|description|compactitem|compactenum|inparaenum|asparaenum|enumerate\*|itemize\*)$/
const DROPPED_ENVIRONMENT = /^(?:comment|tikzpicture|pgfpicture|pspicture|picture|filecontents|CCSXML)\*?$/
/** Environments whose text gets their kind as a label, as in print. */
const LABELLED_ENVIRONMENT =
  /^(?:theorem|lemma|definition|corollary|proposition|proof|example|remark|claim|conjecture|axiom|algorithm|assumption)\*?$/
const MAX_LIST_DEPTH = 8

const MARKUP =
  /\\(begin|end)[ \t]*\{([A-Za-z]{1,40}\*?)\}|\\(part|chapter|section|subsection|subsubsection|paragraph|subparagraph|caption|captionof|footnote|footnotetext|thanks|item|bibitem|input|include|subfile|appendix|frametitle|title|author|date)\b\*?[ \t]*|\n[ \t]*\n\s*/g

/** Reads LaTeX: sections, text without commands, unchanged formulas, tables, captions, code, references. */
export const latexParser: Parser = {
  parse: parseLatex,
}

function parseLatex(input: ParserInput): ParsedDocument {
  const source = removeLatexComments(input.text().replace(/\r\n?/g, '\n'))
  const head = readLatexHead(source)
  const reader = new LatexReader(source, head.macros)
  reader.read(head.body)
  const { blocks, inputs } = reader
  if (head.title !== undefined) blocks.unshift({ type: 'title', text: head.title, level: 1 })
  if (!blocks.some((block) => block.text !== '')) throw new ReadError('empty', `${input.filename} has no text`)
  return {
    parser: 'unstructured',
    contentType: 'text',
    ...omitUndefined({ title: head.title }),
    blocks,
    metadata: {
      ...(head.authors.length === 0 ? {} : { authors: head.authors }),
      ...omitUndefined({ created: head.date }),
      ...(inputs.length === 0 ? {} : { warnings: [`not followed: ${inputs.slice(0, 20).join(', ')}`] }),
    },
  }
}

class LatexReader {
  readonly blocks: Block[] = []
  /** files that the document includes, which are separate documents */
  readonly inputs: string[] = []
  readonly #source: string
  readonly #macros: ReadonlyMap<string, string>
  /** offset of the closing brace for each opening one */
  readonly #braces: Int32Array
  readonly #unclosed = new Set<string>()
  #lists: boolean[] = []
  #items: string[] = []
  #pending: string[] = []
  #notes: string[] = []
  #topLevel = 7
  #label = ''

  constructor(source: string, macros: ReadonlyMap<string, string>) {
    this.#source = source
    this.#macros = macros
    this.#braces = matchBraces(source)
    // The outermost division that the document has is its first level.
    for (const [name, level] of Object.entries(DIVISION_LEVELS))
      if (source.includes(`\\${name}{`) || source.includes(`\\${name}*{`))
        this.#topLevel = Math.min(this.#topLevel, level)
  }

  read(start: number): void {
    const pattern = new RegExp(MARKUP)
    let offset = start
    pattern.lastIndex = start
    for (let match = pattern.exec(this.#source); match !== null; match = pattern.exec(this.#source)) {
      this.#pending.push(this.#source.slice(offset, match.index))
      const [, edge, environment = '', command] = match
      offset = pattern.lastIndex
      if (edge === 'end' && environment === 'document') {
        offset = this.#source.length
        break
      }
      if (edge !== undefined) offset = this.#environment(edge, environment, offset)
      else if (command !== undefined) offset = this.#command(command, offset)
      else this.#paragraph()
      pattern.lastIndex = offset
    }
    this.#pending.push(this.#source.slice(offset))
    this.#paragraph()
    this.#endList()
  }

  #text(source: string): string {
    return latexToText(source, this.#macros)
  }

  /** The argument in braces at an offset, and the offset after it. */
  #argument(offset: number): { text: string; next: number } {
    let start = offset
    if (this.#source.charAt(start) === '[') {
      const close = this.#source.slice(start, start + 500).indexOf(']')
      if (close !== -1) start += close + 1
    }
    const end = this.#source.charAt(start) === '{' ? (this.#braces[start] ?? 0) : 0
    return end === 0 ? { text: '', next: offset } : { text: this.#source.slice(start + 1, end), next: end + 1 }
  }

  #command(name: string, offset: number): number {
    if (name === 'item' || name === 'bibitem') return this.#item(name, offset)
    if (name === 'appendix') return offset
    const first = this.#argument(offset)
    const { text, next } = name === 'captionof' ? this.#argument(first.next) : first
    const level = DIVISION_LEVELS[name]
    if (level !== undefined || name === 'frametitle')
      this.#heading(this.#text(text), name === 'frametitle' ? 1 : (level ?? 1) - this.#topLevel + 1)
    else if (name === 'caption' || name === 'captionof') this.#aside(text, 'caption')
    else if (name.startsWith('footnote') || name === 'thanks') this.#notes.push(text)
    else if (name === 'input' || name === 'include' || name === 'subfile') this.#input(text)
    // Title, author and date were read with the head.
    return next
  }

  #input(name: string): void {
    if (this.inputs.length < 100 && name !== '') this.inputs.push(name.slice(0, 200))
  }

  #heading(text: string, level: number): void {
    this.#paragraph()
    this.#endList()
    if (text !== '') this.blocks.push({ type: 'heading', text, level })
  }

  #aside(source: string, role: string): void {
    this.#paragraph()
    const text = this.#text(source)
    if (text !== '') this.blocks.push({ type: 'paragraph', text, metadata: { role } })
  }

  #environment(edge: string, name: string, offset: number): number {
    if (
      edge === 'begin' &&
      (CODE_ENVIRONMENT.test(name) ||
        FORMULA_ENVIRONMENT.test(name) ||
        TABLE_ENVIRONMENT.test(name) ||
        DROPPED_ENVIRONMENT.test(name))
    )
      return this.#readOpaque(name, offset)
    this.#paragraph()
    if (LIST_ENVIRONMENT.test(name) || name === 'thebibliography') {
      if (edge === 'begin') this.#lists.push(name.startsWith('enum'))
      else this.#lists.pop()
      if (this.#lists.length === 0) this.#endList()
      if (name === 'thebibliography' && edge === 'begin') {
        this.#heading('References', 1)
        return this.#argument(offset).next
      }
    } else if (edge === 'begin' && name === 'abstract') this.#heading('Abstract', 1)
    else if (edge === 'begin' && LABELLED_ENVIRONMENT.test(name))
      this.#label = `${name.charAt(0).toUpperCase()}${name.slice(1).replace('*', '')}: `
    else if (edge === 'begin' && name === 'frame') return this.#frame(offset)
    if (edge === 'begin' && SIZED_ENVIRONMENT.test(name)) return this.#argument(offset).next
    // The position option of a float is not text.
    const option = edge === 'begin' ? /^[ \t]*\[[^[\]\n]{0,60}\]/.exec(this.#source.slice(offset, offset + 80)) : null
    return option === null || LABELLED_ENVIRONMENT.test(name) ? offset : offset + option[0].length
  }

  /** A slide with its title. */
  #frame(offset: number): number {
    const { text, next } = this.#argument(offset)
    if (text !== '' && text.length < 300) this.#heading(this.#text(text), Math.min(7, 7 - this.#topLevel + 2))
    return next
  }

  /** Reads an environment as one block: code, a formula, a table, a drawing. */
  #readOpaque(name: string, offset: number): number {
    const end = this.#unclosed.has(name) ? -1 : this.#findEnd(name, offset)
    if (end === -1) {
      this.#unclosed.add(name)
      return offset
    }
    const body = this.#source.slice(offset, end)
    if (FORMULA_ENVIRONMENT.test(name))
      this.#pending.push(
        ` $${body
          .replace(/\\label\{[^{}]{0,100}\}|\\nonumber|\\notag/g, '')
          .replace(/\s+/g, ' ')
          .trim()}$ `,
      )
    else {
      this.#paragraph()
      if (CODE_ENVIRONMENT.test(name)) this.#code(name, body)
      else if (TABLE_ENVIRONMENT.test(name)) this.blocks.push(...readLatexTable(name, body, (cell) => this.#text(cell)))
    }
    return end + name.length + 6
  }

  /** The end of an environment; tables may contain others of their kind. */
  #findEnd(name: string, offset: number): number {
    let end = this.#source.indexOf(`\\end{${name}}`, offset)
    if (!TABLE_ENVIRONMENT.test(name)) return end
    const begin = `\\begin{${name}}`
    let inner = this.#source.indexOf(begin, offset)
    while (end !== -1 && inner !== -1 && inner < end) {
      inner = this.#source.indexOf(begin, inner + 1)
      end = this.#source.indexOf(`\\end{${name}}`, end + 1)
    }
    return end
  }

  #code(name: string, body: string): void {
    const head = /^(?:\s*\[[^\]]{0,500}\])?(?:\{([\w+#-]{1,30})\})?/.exec(body)?.[0] ?? ''
    const language =
      name === 'minted' ? /\{([\w+#-]{1,30})\}$/.exec(head)?.[1] : /language\s*=\s*\{?([\w+#-]{1,30})/.exec(head)?.[1]
    // Highlighted code consists of commands.
    const plain = (line: string): string =>
      `${/^\s*/.exec(line)?.[0] ?? ''}${latexToText(line.replaceAll('\\NormalTok', ''))}`
    const text = body.slice(head.length)
    this.blocks.push({
      type: 'code',
      text: name === 'Highlighting' ? text.split('\n').map(plain).join('\n') : text,
      ...(language === undefined ? {} : { metadata: { language: language.toLowerCase() } }),
    })
  }

  #item(name: string, offset: number): number {
    this.#paragraph()
    let next = offset
    let label = ''
    if (this.#source.charAt(offset) === '[') {
      const close = this.#source.slice(offset, offset + 300).indexOf(']')
      if (close !== -1) {
        label = this.#source.slice(offset + 1, offset + close)
        next = offset + close + 1
      }
    }
    if (name === 'bibitem') {
      const key = this.#argument(next)
      label = key.text
      next = key.next
    }
    const mark = this.#lists.at(-1) === true ? '1.' : '-'
    const words = name === 'bibitem' ? `[${label}]` : this.#text(label)
    const prefix = label === '' ? '' : `${words}${name === 'bibitem' ? '' : ':'} `
    this.#items.push(`${'  '.repeat(Math.max(0, Math.min(this.#lists.length, MAX_LIST_DEPTH) - 1))}${mark} ${prefix}`)
    return next
  }

  #paragraph(): void {
    const text = this.#text(this.#pending.join(''))
    this.#pending = []
    const notes = this.#notes.map((note) => this.#text(note)).filter((note) => note !== '')
    this.#notes = []
    if (text !== '' && this.#lists.length > 0 && this.#items.length > 0)
      this.#items[this.#items.length - 1] += ` ${text}`
    else if (text !== '') {
      this.#endList()
      this.blocks.push({ type: 'paragraph', text: `${this.#label}${text}` })
      this.#label = ''
    }
    if (notes.length > 0) this.#endList()
    for (const note of notes) this.blocks.push({ type: 'paragraph', text: note, metadata: { role: 'footnote' } })
  }

  #endList(): void {
    const items = this.#items
      .map((item) => item.replace(/(\S) {2,}/g, '$1 '))
      .filter((item) => /[\p{L}\p{N}]/u.test(item))
    if (items.length > 0) this.blocks.push({ type: 'list', text: items.join('\n') })
    this.#items = []
  }
}
