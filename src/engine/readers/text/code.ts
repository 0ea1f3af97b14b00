import { findFileLanguage } from '../languages.js'
import type { Block, Parser } from '../parsed.js'
import { findDeclaration, hasSymbols, type SymbolKind } from './code-rules.js'
import { iterateLines } from './text.js'

/** Declarations are collected up to this many lines, so that a node is more than a one-line import. */
const MIN_SECTION_LINES = 25
const MAX_BLOCK_LINES = 120
const MAX_BLOCK_CHARACTERS = 6000
/** Symbols shorter than this share a section with their neighbours. */
const SMALL_SYMBOL_LINES = 8
/** Maximum number of names in the title of a shared section. */
const MAX_TITLE_NAMES = 6
/** Nested classes are sections up to this depth. */
const MAX_DEPTH = 4

/** Reads source code: a section for each class and function, short ones together; without symbols, runs of lines. */
export const codeParser: Parser = {
  parse(input) {
    const language = findFileLanguage(input.filename) ?? input.mediaType.replace(/^text\/(?:x-)?/, '')
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: readSourceBlocks(input.text(), language),
      metadata: { programmingLanguage: language },
    }
  },
}

/** Splits source code into sections by its symbols. */
export function readSourceBlocks(text: string, language: string): Block[] {
  const allLines = [...iterateLines(text)].map((line) => line.trimEnd())
  const symbols = hasSymbols(language) ? findSymbols(allLines, language) : []
  const blocks = splitCode(allLines, 0, symbols[0]?.start ?? allLines.length, language)
  for (const section of groupSections(symbols, allLines.length)) {
    blocks.push({ type: 'heading', text: section.title, level: section.level, tocSource: 'symbol', silent: true })
    blocks.push(...splitCode(allLines, section.start, section.end, language))
  }
  return blocks
}

interface CodeSymbol {
  name: string
  kind: SymbolKind
  level: number
  indent: number
  /** its first line, comments above it included */
  start: number
}

/** Indentation determines nesting, as people see it; declarations within a function are part of it. */
function findSymbols(allLines: readonly string[], language: string): CodeSymbol[] {
  const symbols: CodeSymbol[] = []
  const open: CodeSymbol[] = []
  const skippedText = new SkippedTextTracker(language)
  for (const [lineIndex, line] of allLines.entries()) {
    const body = line.trimStart()
    if (skippedText.has(body) || body === '') continue
    const indent = line.length - body.length
    while (open.length > 0 && indent <= (open.at(-1)?.indent ?? 0) && !/^[{})\]]|^end\b/.test(body)) open.pop()
    const enclosing = open.at(-1)
    if (enclosing?.kind === 'function' || open.length >= MAX_DEPTH) continue
    const declaration = findDeclaration(body, language, {
      isAtMargin: indent === 0,
      isInContainer: enclosing?.kind === 'container',
    })
    if (declaration === undefined) continue
    const symbol = {
      ...declaration,
      level: open.length + 1,
      indent,
      start: findCommentStart(allLines, lineIndex, symbols.at(-1)?.start ?? -1),
    }
    symbols.push(symbol)
    if (declaration.kind !== 'value') open.push(symbol)
  }
  return symbols
}

/** First line of the comments, decorators and attributes right above a declaration. */
function findCommentStart(allLines: readonly string[], lineIndex: number, after: number): number {
  let start = lineIndex
  while (
    start - 1 > after &&
    /^\s*(?:\/\/|\/?\*|#(?!include|define|if|end)|@|--|\[[\w(]|%|;)|\*\/\s*$/.test(allLines[start - 1] ?? '')
  )
    start--
  return start
}

/** Tracks comments and texts of several lines, whose lines may look like declarations. */
class SkippedTextTracker {
  readonly #python: boolean
  #end = ''

  constructor(language: string) {
    this.#python = language === 'python' || language === 'julia' || language === 'elixir'
  }

  /** Whether a line is within one of them, except for its first line. */
  has(body: string): boolean {
    if (this.#end !== '') {
      if (body.includes(this.#end)) this.#end = ''
      return true
    }
    if (this.#python) {
      const mark = /"""|'''/.exec(body)?.[0]
      if (mark !== undefined && body.split(mark).length % 2 === 0) this.#end = mark
    } else if (body.startsWith('/*') && !body.includes('*/')) this.#end = '*/'
    return false
  }
}

interface CodeSection {
  title: string
  level: number
  start: number
  end: number
}

function groupSections(symbols: readonly CodeSymbol[], total: number): CodeSection[] {
  const sections: CodeSection[] = []
  let names: string[] = []
  let shared: CodeSection | undefined
  for (const [index, { name, kind, level, start }] of symbols.entries()) {
    const end = symbols[index + 1]?.start ?? total
    const isSmall = kind !== 'container' && end - start < SMALL_SYMBOL_LINES
    if (isSmall && shared !== undefined && shared.level === level && shared.end - shared.start < MIN_SECTION_LINES) {
      if (names.length < MAX_TITLE_NAMES && !names.includes(name)) names.push(name)
      shared.title = names.join(', ')
      shared.end = end
      continue
    }
    const section = { title: name, level, start, end }
    sections.push(section)
    names = [name]
    shared = isSmall ? section : undefined
  }
  return sections
}

/** Runs of lines, split at lines at the left margin after a blank line. */
function splitCode(allLines: readonly string[], startLine: number, endLine: number, language: string): Block[] {
  const blocks: Block[] = []
  let pendingLines: string[] = []
  let size = 0
  let afterBlank = false
  const flush = (): void => {
    if (size > 0) blocks.push({ type: 'code', text: pendingLines.join('\n'), metadata: { language } })
    pendingLines = []
    size = 0
  }
  for (let lineIndex = startLine; lineIndex < endLine; lineIndex++) {
    const line = allLines[lineIndex] ?? ''
    const isEmpty = line.trim() === ''
    const isTopLevel = afterBlank && !isEmpty && !/^[\s})\]]/.test(line)
    if (
      (isTopLevel && pendingLines.length >= MIN_SECTION_LINES) ||
      pendingLines.length >= MAX_BLOCK_LINES ||
      size > MAX_BLOCK_CHARACTERS
    )
      flush()
    pendingLines.push(line)
    if (!isEmpty) size += line.length
    afterBlank = isEmpty
  }
  flush()
  return blocks
}
