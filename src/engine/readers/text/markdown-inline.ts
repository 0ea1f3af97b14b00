import type { Token } from 'markdown-it'
import type { Picture } from '../parsed.js'
import { type MarkdownEnv, readInline } from './markdown-rules.js'

/** Characters that can start markup; text without any of them only changes its line ends. */
const MARKUP = /[\\`*_~[\]<&]|%%/

/** Longer texts are parsed in pieces split at white space: a token of the library takes more memory than a word. */
const MAX_PIECE_LENGTH = 32_000

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
export function readInlineText(source: string, env: MarkdownEnv, pictures: Picture[] = []): InlineText {
  if (!MARKUP.test(source)) return { text: joinLines(source), isPicture: false }
  if (source.length > MAX_PIECE_LENGTH) return { text: readLargeText(source, env, pictures), isPicture: false }
  const tokens = readInline(source, env)
  return { text: tokensToText(tokens, pictures), isPicture: tokens.length === 1 && tokens[0]?.type === 'image' }
}

function joinLines(source: string): string {
  if (!source.includes('\n')) return source
  let text = ''
  let separator = ''
  for (const line of source.split('\n')) {
    text += separator + line.trim()
    separator = line.endsWith('  ') ? '\n' : ' '
  }
  return text
}

function readLargeText(source: string, env: MarkdownEnv, pictures: Picture[]): string {
  const pieces: string[] = []
  const space = /\s/g
  for (let start = 0; start < source.length; ) {
    space.lastIndex = start + MAX_PIECE_LENGTH
    const end = space.exec(source)?.index ?? source.length
    pieces.push(tokensToText(readInline(source.slice(start, end), env), pictures))
    start = end + 1
  }
  return pieces.join(' ')
}

function tokensToText(tokens: readonly Token[], pictures: Picture[]): string {
  let text = ''
  for (const token of tokens) {
    if (token.type === 'softbreak') text += ' '
    else if (token.type === 'hardbreak') text += '\n'
    else if (token.type === 'html_inline') text += replaceTag(token.content)
    else if (token.type === 'image') {
      const uri = token.attrGet('src')
      if (typeof uri === 'string' && uri !== '') pictures.push({ uri })
      text += tokensToText(token.children ?? [], pictures)
    } else text += token.content
  }
  return text
}

/** `<br>` and rows become line ends, cells and blocks are separated by a space; other tags and comments are removed. */
function replaceTag(tag: string): string {
  const name = /^<\/?([a-z][a-z0-9-]*)/i.exec(tag)?.[1]?.toLowerCase()
  if (name === 'br' || name === 'tr') return '\n'
  return name === 'td' || name === 'th' || name === 'p' || name === 'div' || name === 'li' ? ' ' : ''
}
