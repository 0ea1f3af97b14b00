import MarkdownIt, { type Token } from 'markdown-it'
import { hasUnicode, tty } from '../../cli/terminal.js'
import { applyStyle, PLAIN, type StyledSpan, type TerminalStyle, wrapSpans } from './spans.js'
import { renderTableLines } from './table-lines.js'
import { wrap } from './wrap.js'

/**
 * Renders Markdown for terminals. HTML stays as text. So do link definitions, which would otherwise need the complete
 * text. Addresses of links and images are shown; nothing is fetched.
 */
const parser = new MarkdownIt({ html: false, linkify: false }).disable('reference')
const BULLET = hasUnicode(process.env) ? '•' : '-'
const BAR = hasUnicode(process.env) ? '│ ' : '| '
const RULE = hasUnicode(process.env) ? '─' : '-'
/** maximum characters of a rendered text; a longer one is shown as it is */
const MAX_CHARACTERS = 400_000
const MIN_WIDTH = 8

/** Renders a text, safe for the terminal, to lines of at most `width` columns if its words allow it. */
export function renderMarkdown(text: string, width: number): string[] {
  const safe = tty(text)
  if (safe.length > MAX_CHARACTERS) return wrap(safe, width)
  const { lines } = renderBlocks(parser.parse(safe, {}), 0, width)
  return lines
}

/** A block of a text, shown below the previous one. */
export interface MarkdownPart {
  /** offset of its first character in the text */
  readonly offset: number
  /** whether it is an item after another one of its list, so that no empty line precedes it */
  readonly followsItem: boolean
}

/**
 * Splits a text into its blocks and list items. If text is appended, only the last one changes.
 *
 * @param text with no line breaks but `\n`
 * @returns at least one, the first at offset 0
 */
export function splitBlocks(text: string): MarkdownPart[] {
  const followsItemByRow = new Map<number, boolean>([[0, false]])
  for (const { level, map, type } of parser.parse(text, {})) {
    if (map === null || (level !== 0 && !(level === 1 && type === 'list_item_open'))) continue
    // The first item begins where its list begins.
    if (!followsItemByRow.has(map[0])) followsItemByRow.set(map[0], level === 1)
  }
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return [...followsItemByRow].map(([row, followsItem]) => ({ offset: lineStarts[row] ?? text.length, followsItem }))
}

interface RenderedBlocks {
  lines: string[]
  /** index of the token after the rendered ones */
  nextIndex: number
}

/** Renders blocks up to the end of their parent. */
function renderBlocks(tokens: readonly Token[], start: number, width: number): RenderedBlocks {
  const lines: string[] = []
  let index = start
  let wasTight = false
  for (let token = tokens[index]; token !== undefined && token.nesting !== -1; token = tokens[index]) {
    // No empty line between items, nor before a list below the single line of an item.
    if (lines.length > 0 && token.type !== 'list_item_open' && !wasTight) lines.push('')
    wasTight = token.hidden
    const rendered = renderBlock(tokens, index, Math.max(MIN_WIDTH, width))
    lines.push(...rendered.lines)
    index = rendered.nextIndex
  }
  return { lines, nextIndex: index + 1 }
}

function renderBlock(tokens: readonly Token[], index: number, width: number): RenderedBlocks {
  const token = tokens[index]
  if (token === undefined) return { lines: [], nextIndex: index + 1 }
  switch (token.type) {
    case 'heading_open':
      return { lines: wrapSpans(renderInline(tokens[index + 1], { isBold: true }), width), nextIndex: index + 3 }
    case 'paragraph_open':
      return { lines: wrapSpans(renderInline(tokens[index + 1], PLAIN), width), nextIndex: index + 3 }
    case 'fence':
    case 'code_block':
      return { lines: renderCode(token, width), nextIndex: index + 1 }
    case 'hr':
      return { lines: [applyStyle(RULE.repeat(Math.min(width, 40)), { isDim: true })], nextIndex: index + 1 }
    case 'blockquote_open': {
      const inner = renderBlocks(tokens, index + 1, width - 2)
      return { ...inner, lines: inner.lines.map((line) => applyStyle(BAR, { isDim: true }) + line) }
    }
    case 'bullet_list_open':
    case 'ordered_list_open':
      return renderBlocks(tokens, index + 1, width)
    case 'list_item_open': {
      const head = token.info === '' ? `${BULLET} ` : `${token.info}${token.markup} `
      const inner = renderBlocks(tokens, index + 1, width - head.length)
      const rest = ' '.repeat(head.length)
      const [first = '', ...more] = inner.lines
      return { ...inner, lines: [head + first, ...more.map((line) => (line === '' ? '' : rest + line))] }
    }
    case 'table_open':
      return renderTable(tokens, index, width)
    default:
      return { lines: wrap(token.content, width), nextIndex: index + 1 }
  }
}

/** Renders code, which is wrapped not between words, but at the line width, so that all of it is visible. */
function renderCode(token: Token, width: number): string[] {
  const head =
    token.info.trim() === '' ? [] : [applyStyle(`  ${token.info.trim().slice(0, width - 2)}`, { isDim: true })]
  const code = token.content.replace(/\n$/, '').split('\n')
  return [
    ...head,
    ...code.flatMap((line) =>
      // Non-breaking spaces keep the words of a line together.
      wrap(line.replaceAll('\t', '  ').replaceAll(' ', '\u00a0'), Math.max(1, width - 2)).map(
        (part) => `  ${applyStyle(part.replaceAll('\u00a0', ' '), { isCode: true })}`,
      ),
    ),
  ]
}

function renderTable(tokens: readonly Token[], start: number, width: number): RenderedBlocks {
  const rows: StyledSpan[][][] = []
  const alignments: string[] = []
  let index = start + 1
  for (; tokens[index] !== undefined && tokens[index]?.type !== 'table_close'; index++) {
    const token = tokens[index]
    if (token?.type === 'tr_open') rows.push([])
    if (token?.type !== 'th_open' && token?.type !== 'td_open') continue
    if (token.type === 'th_open') alignments.push(/right/.test(token.attrGet('style') ?? '') ? 'right' : 'left')
    rows.at(-1)?.push(renderInline(tokens[index + 1], token.type === 'th_open' ? { isBold: true } : PLAIN))
  }
  return { lines: renderTableLines(rows, alignments, width), nextIndex: index + 1 }
}

/** Splits the text of a block into spans of one style each. */
function renderInline(token: Token | undefined, style: TerminalStyle): StyledSpan[] {
  const spans: StyledSpan[] = []
  const styles: TerminalStyle[] = [style]
  const addresses: string[] = []
  const push = (text: string, spanStyle: TerminalStyle = styles.at(-1) ?? style) =>
    spans.push({ text, style: spanStyle })
  for (const child of token?.children ?? []) {
    const current = styles.at(-1) ?? style
    switch (child.type) {
      case 'softbreak':
      case 'hardbreak':
        push('\n')
        break
      case 'code_inline':
        push(child.content, { ...current, isCode: true })
        break
      case 'strong_open':
        styles.push({ ...current, isBold: true })
        break
      case 'em_open':
        styles.push({ ...current, isItalic: true })
        break
      case 's_open':
        styles.push({ ...current, isStruck: true })
        break
      case 'link_open':
        styles.push({ ...current, isUnderlined: true })
        addresses.push(tty(child.attrGet('href') ?? ''))
        break
      case 'strong_close':
      case 'em_close':
      case 's_close':
        styles.pop()
        break
      case 'link_close': {
        styles.pop()
        const address = addresses.pop() ?? ''
        // An address in angle brackets is its own text.
        if (child.info !== 'auto') push(` (${address})`, { ...style, isDim: true })
        break
      }
      case 'image':
        push(`[image: ${child.content}]`)
        push(` (${tty(child.attrGet('src') ?? '')})`, { ...style, isDim: true })
        break
      default:
        // The parser decodes entities such as &#27;.
        push(tty(child.content))
    }
  }
  return spans
}
