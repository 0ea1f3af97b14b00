import MarkdownIt, { type StateBlock, type StateInline, type Token } from 'markdown-it'
import { formulaRule } from './markdown-math.js'

/**
 * State of a document during parsing; the library adds link targets. It is one object with fields: there are many small
 * notes, and lookups in maps by object took a tenth of the time for each.
 */
export interface MarkdownEnv {
  /** receives the tokens while they are parsed, so that a large document is never in memory as tokens */
  onTokens: ((tokens: Token[]) => void) | undefined
  /** the document may have notes (`[^1]: words`) */
  readonly hasNotes: boolean
  /** the last block was a note, which may continue in indented blocks */
  isAfterNote: boolean
  /** line from which on no end mark was found, by mark and last line */
  missingEnds: Map<string, number> | undefined
  /** number of picture descriptions around the current text */
  pictureDepth: number
}

/** Maximum depth of blocks, as the library limits it; deeper content is text. */
const MAX_NESTING = 100
/** The deepest block, a list, takes two levels for itself and two for its content. */
const MAX_BLOCK_LEVEL = MAX_NESTING - 4
/** Maximum depth of pictures in descriptions of pictures: each is parsed again. */
const MAX_PICTURE_NESTING = 5

const EXCLAMATION = 0x21

/** Marks that only hide text; without its end such a mark is text, so that nothing after it is lost. */
const HIDING_MARKS: readonly (readonly [start: RegExp, end: string])[] = [
  [/<!--/y, '-->'],
  [/<\?/y, '?>'],
  [/<!\[CDATA\[/y, ']]>'],
  [/<![a-z]/iy, '>'],
]

const NOTE = /^\[\^[^\]\s]{1,100}\]:/

/** The library's own rule `reference`, which is not exported. */
const referenceRule = (() => {
  const { ruler } = new MarkdownIt().block
  ruler.enableOnly('reference')
  return ruler.getRules('')[0]
})()

const htmlRule = (() => {
  const { ruler } = new MarkdownIt({ html: true }).block
  ruler.enableOnly('html_block')
  return ruler.getRules('')[0]
})()

const pictureRule = (() => {
  const { ruler } = new MarkdownIt().inline
  ruler.enableOnly('image')
  return ruler.getRules('')[0]
})()

const md = createMarkdownParser()

function createMarkdownParser() {
  const reader = new MarkdownIt({ html: true })
  // Addresses stay as they are written: no browser displays them.
  reader.normalizeLink = (url) => url
  reader.normalizeLinkText = (url) => url
  reader.validateLink = () => true
  const { ruler } = reader.block
  ruler.before('table', 'pass on tokens', passOnTokens, { alt: ['blockquote'] })
  ruler.before('table', 'too deep', flattenDeepBlock)
  ruler.before('code', 'rest of a note', continueNote)
  ruler.at('html_block', readClosedHtml, { alt: ['paragraph', 'reference', 'blockquote'] })
  ruler.before('html_block', 'comment', skipCommentLines, { alt: ['paragraph', 'reference', 'blockquote'] })
  ruler.at('reference', readLinkDefinition)
  reader.inline.ruler.before('escape', 'formula', formulaRule)
  reader.inline.ruler.before('link', 'wiki link', readWikiLink)
  reader.inline.ruler.before('link', 'comment', skipComment)
  reader.inline.ruler.at('image', readLimitedPicture)
  reader.inline.ruler.disable('linkify')
  return reader
}

/**
 * Parses the blocks of a document (CommonMark, GitHub's tables) and passes on their tokens, a few at a time. The text
 * within them is parsed later by `readInline`, when all link definitions are known.
 *
 * @param text with `\n` for line ends
 * @param options `hasNotes`: the document may have notes
 * @returns the state that `readInline` needs
 */
export function readBlocks(
  text: string,
  { hasNotes, onTokens }: { hasNotes: boolean; onTokens: (tokens: Token[]) => void },
): MarkdownEnv {
  const env: MarkdownEnv = { onTokens, hasNotes, isAfterNote: false, missingEnds: undefined, pictureDepth: 0 }
  const tokens: Token[] = []
  md.block.parse(text, md, env, tokens)
  onTokens(tokens)
  env.onTokens = undefined
  return env
}

/** Parses the text of one block: emphasis, links, code, pictures. Takes linear time. */
export function readInline(text: string, env: MarkdownEnv): Token[] {
  const tokens: Token[] = []
  md.inline.parse(text, md, env, tokens)
  return tokens
}

/** Never matches. It runs before every block and every table row, and passes on the tokens before them. */
function passOnTokens(state: StateBlock): boolean {
  if (state.tokens.length === 0) return false
  const env: MarkdownEnv = state.env
  const tokens = state.tokens.splice(0)
  if (env.hasNotes) env.isAfterNote = state.level === 0 && endsWithNote(tokens)
  env.onTokens?.(tokens)
  return false
}

function endsWithNote(tokens: readonly Token[]): boolean {
  return tokens.at(-1)?.type === 'paragraph_close' && NOTE.test(tokens.at(-2)?.content ?? '')
}

/** Indented blocks after a note continue it; they are no code. */
function continueNote(state: StateBlock, start: number, end: number): boolean {
  const env: MarkdownEnv = state.env
  if (!env.isAfterNote || state.level > 0 || (state.sCount[start] ?? 0) < 4) return false
  env.isAfterNote = false
  let line = start
  while (line < end && (state.isEmpty(line) || (state.sCount[line] ?? 0) >= 4)) line++
  state.push('note_open', '', 1)
  state.blkIndent = 4
  state.md.block.tokenize(state, start, line)
  state.blkIndent = 0
  state.push('note_close', '', -1)
  state.line = line
  return true
}

/** The library drops what is nested too deeply; this rule makes one paragraph of it. */
function flattenDeepBlock(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  if (state.level < MAX_BLOCK_LEVEL || silent) return false
  let line = start
  while (line < end && (state.isEmpty(line) || (state.sCount[line] ?? 0) >= state.blkIndent)) line++
  state.line = line
  state.push('paragraph_open', 'p', 1)
  const text = state.push('inline', '', 0)
  text.content = state.getLines(start, line, 0, false).replace(/^[\s>]+/gm, '')
  state.push('paragraph_close', 'p', -1)
  return true
}

/** Reads HTML blocks as in CommonMark, but a comment or the like without an end is text. */
function readClosedHtml(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  const offset = getTextStart(state, start)
  if (state.src.charAt(offset) !== '<') return false
  for (const [opening, ending] of HIDING_MARKS) {
    opening.lastIndex = offset
    if (opening.test(state.src) && findLineWith(state, ending, start, end) === undefined) return false
  }
  return htmlRule?.(state, start, end, silent) ?? false
}

/** `%%` at the start of a line begins a comment of Obsidian, which `%%` at the end of a line ends. */
function skipCommentLines(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  const offset = getTextStart(state, start)
  if (!state.src.startsWith('%%', offset)) return false
  const first = state.src.slice(offset + 2, state.eMarks[start])
  const last = /%%\s*$/.test(first)
    ? start
    : first.includes('%%')
      ? undefined
      : findLineWith(state, '%%', start + 1, end)
  if (last === undefined || !/%%\s*$/.test(state.src.slice(state.bMarks[last], state.eMarks[last]))) return false
  if (!silent) state.line = last + 1
  return true
}

/** `%%words%%` within a line is a comment of Obsidian; `a %% b` is not. */
function skipComment(state: StateInline, silent: boolean): boolean {
  if (!state.src.startsWith('%%', state.pos) || /\S/.test(state.src.charAt(state.pos - 1))) return false
  const comment = /%%(?!\s)[^\n]{1,2000}?%%(?!\S)/y
  comment.lastIndex = state.pos
  const length = comment.exec(state.src)?.[0].length
  if (length === undefined) return false
  if (!silent) state.push('text', '', 0).content = ''
  state.pos += length
  return true
}

/** The first line that contains a mark; lines that were searched without success are not searched again. */
function findLineWith(state: StateBlock, mark: string, start: number, end: number): number | undefined {
  const env: MarkdownEnv = state.env
  env.missingEnds ??= new Map()
  const missingEnds = env.missingEnds
  const key = `${mark} ${end}`
  if (start >= (missingEnds.get(key) ?? Number.POSITIVE_INFINITY)) return undefined
  for (let line = start; line < end; line++) {
    if (state.src.slice(state.bMarks[line], state.eMarks[line]).toLowerCase().includes(mark)) return line
  }
  missingEnds.set(key, start)
  return undefined
}

/** `[label]: address` defines a link, but `[^1]: words` is a footnote, whose text is kept. */
function readLinkDefinition(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  if (state.src.startsWith('[^', getTextStart(state, start)) || referenceRule?.(state, start, end, silent) !== true)
    return false
  if (!silent) {
    const env: MarkdownEnv = state.env
    env.isAfterNote = false
  }
  return true
}

/** `[[Page]]` and `[[Page|label]]`, links of notebook programs. */
function readWikiLink(state: StateInline, silent: boolean): boolean {
  if (!state.src.startsWith('[[', state.pos)) return false
  // Three brackets, a picture, a definition and a reference are read as in CommonMark.
  if (/[[!]/.test(state.src.charAt(state.pos - 1))) return false
  const link = /\[\[([^[\]\n]{1,500})\]\](?!\]|:\s*(?:[/#<]|https?:))/y
  link.lastIndex = state.pos
  const linkContent = link.exec(state.src)?.[1]
  if (linkContent === undefined || isDefined(state, linkContent)) return false
  if (!silent) state.push('text', '', 0).content = linkContent.slice(linkContent.lastIndexOf('|') + 1)
  state.pos += linkContent.length + 4
  return true
}

function isDefined({ env, md }: StateInline, label: string): boolean {
  return env.references?.[md.utils.normalizeReference(label)] !== undefined
}

function readLimitedPicture(state: StateInline, silent: boolean): boolean {
  const env: MarkdownEnv = state.env
  if (env.pictureDepth >= MAX_PICTURE_NESTING || state.src.charCodeAt(state.pos) !== EXCLAMATION) return false
  env.pictureDepth++
  const found = pictureRule?.(state, silent) ?? false
  env.pictureDepth--
  return found
}

function getTextStart(state: StateBlock, line: number): number {
  return (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0)
}
