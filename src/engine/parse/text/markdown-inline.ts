import type { Token } from 'markdown-it'
import type { Picture } from '../parsed.js'
import { type Env, readInline } from './markdown-rules.js'

/** Characters that can start markup; text without any of them only changes its line ends. */
const MARKUP = /[\\`*_~[\]<&]/

/** Longer texts are parsed in pieces split at white space: a token of the library takes more memory than a word. */
const LARGEST_PIECE = 32_000

/** The text of a block, and whether it is only a picture. */
export interface InlineText {
  text: string
  isPicture: boolean
}

/**
 * Reduces inline Markdown to its text: keeps the text of links, descriptions of pictures and code; removes link
 * targets, emphasis marks, tags and comments.
 *
 * @param pictures receives the targets of `![…](target)`
 */
export function inlineText(source: string, env: Env, pictures: Picture[] = []): InlineText {
  if (!MARKUP.test(source)) return { text: withoutLineEnds(source), isPicture: false }
  if (source.length > LARGEST_PIECE) return { text: largeText(source, env, pictures), isPicture: false }
  const tokens = readInline(source, env)
  return { text: textOf(tokens, pictures), isPicture: tokens.length === 1 && tokens[0]?.type === 'image' }
}

function withoutLineEnds(source: string): string {
  if (!source.includes('\n')) return source
  let text = ''
  let gap = ''
  for (const line of source.split('\n')) {
    text += gap + line.trim()
    gap = line.endsWith('  ') ? '\n' : ' '
  }
  return text
}

function largeText(source: string, env: Env, pictures: Picture[]): string {
  const pieces: string[] = []
  const space = /\s/g
  for (let start = 0; start < source.length; ) {
    space.lastIndex = start + LARGEST_PIECE
    const end = space.exec(source)?.index ?? source.length
    pieces.push(textOf(readInline(source.slice(start, end), env), pictures))
    start = end + 1
  }
  return pieces.join(' ')
}

function textOf(tokens: readonly Token[], pictures: Picture[]): string {
  let text = ''
  for (const token of tokens) {
    if (token.type === 'softbreak') text += ' '
    else if (token.type === 'hardbreak') text += '\n'
    else if (token.type === 'html_inline') text += tagText(token.content)
    else if (token.type === 'image') {
      const uri = token.attrGet('src')
      if (typeof uri === 'string' && uri !== '') pictures.push({ uri })
      text += textOf(token.children ?? [], pictures)
    } else text += token.content
  }
  return text
}

/** `<br>` and rows become line ends, cells and blocks are separated by a space; other tags and comments are removed. */
function tagText(tag: string): string {
  const name = /^<\/?([a-z][a-z0-9-]*)/i.exec(tag)?.[1]?.toLowerCase()
  if (name === 'br' || name === 'tr') return '\n'
  return name === 'td' || name === 'th' || name === 'p' || name === 'div' || name === 'li' ? ' ' : ''
}
