import { stripThoughts } from '../../../../lib/text/thoughts.js'

/** Length of a text that is spoken at once: short enough to start soon, long enough to sound like a sentence. */
const MIN_SENTENCE_CHARS = 30
const MAX_SENTENCE_CHARS = 400

const SENTENCE_END = /[.!?…]["')\]]*\s|[。！？]|\n/g

/**
 * Splits complete sentences off the beginning of a text that is still being generated.
 *
 * @param maxChars a text without a sentence end is split at its last space before this many characters
 * @returns the sentences, and the rest
 */
export function takeSentences(text: string, maxChars: number = MAX_SENTENCE_CHARS): { pieces: string[]; rest: string } {
  const parts: string[] = []
  let start = 0
  let end = 0
  for (const match of text.matchAll(SENTENCE_END)) {
    end = match.index + match[0].length
    if (end - start < MIN_SENTENCE_CHARS) continue
    parts.push(...splitAtSpaces(text.slice(start, end), maxChars))
    start = end
  }
  const rest = splitAtSpaces(text.slice(start), maxChars)
  const last = rest.pop() ?? ''
  return { pieces: [...parts, ...rest], rest: last }
}

/** Splits a complete text into parts that a model accepts. */
export function splitForSpeech(text: string, maxChars: number): string[] {
  const parts: string[] = []
  let part = ''
  const { pieces: sentences, rest } = takeSentences(text, maxChars)
  for (const sentence of [...sentences, rest]) {
    if (part !== '' && part.length + sentence.length > maxChars) {
      parts.push(part)
      part = ''
    }
    part += sentence
  }
  return [...parts, part].filter((one) => one.trim() !== '')
}

function splitAtSpaces(text: string, maxChars: number): string[] {
  const parts: string[] = []
  let remaining = text
  while (remaining.length > maxChars) {
    const space = remaining.lastIndexOf(' ', maxChars - 1)
    const length = space > maxChars / 2 ? space + 1 : maxChars
    // Never splits a surrogate pair.
    const end = /[\uD800-\uDBFF]/.test(remaining[length - 1] ?? '') ? length - 1 : length
    parts.push(remaining.slice(0, end))
    remaining = remaining.slice(end)
  }
  return [...parts, remaining]
}

/** The text for reading aloud: without reasoning, code fences, emphasis marks, citation numbers and link addresses. */
export function toSpeakableText(text: string): string {
  return stripThoughts(text)
    .replace(/^\s*```.*$/gm, ' ')
    .replace(/\[\d{1,3}\]/g, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s{0,3}(#{1,6}|[-*+>])\s+/gm, '')
    .replace(/[*_`~|]+/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
