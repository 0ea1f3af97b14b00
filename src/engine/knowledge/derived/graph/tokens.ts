import type { EntityMention } from './entities.js'

/** A word or a punctuation mark of a sentence. */
export interface SentenceToken {
  /** without a possessive ending */
  text: string
  lower: string
  /** UTF-16 offsets in the complete text, without a possessive ending */
  start: number
  end: number
  isWord: boolean
  /** `'s` or `s'` follows */
  possessive: boolean
  /** index of the mention that it is a part of */
  mention: number | undefined
}

const TOKEN = /([\p{L}\p{N}$€£¥](?:[\p{L}\p{M}\p{N}&/_+#-]|[.'’,](?=[\p{L}\p{N}]))*%?)|\S/gu
const POSSESSIVE = /['’]s$/u

/** Tokenizes a range of a text; tokens of a name refer to its mention. */
export function tokenize(
  text: string,
  start: number,
  end: number,
  mentions: readonly EntityMention[],
): SentenceToken[] {
  const tokens: SentenceToken[] = []
  let next = Math.max(
    0,
    mentions.findIndex((mention) => getMentionEnd(mention) > start),
  )
  for (const match of text.slice(start, end).matchAll(TOKEN)) {
    const isWord = match[1] !== undefined
    const offset = start + match.index
    // the apostrophe of a plural's possessive
    if (!isWord && isQuote(match[0], 0) && tokens.at(-1)?.possessive === true && tokens.at(-1)?.end === offset) continue
    const plain = isWord && isQuote(match[0], match[0].length - 2) ? match[0].replace(POSSESSIVE, '') : match[0]
    while (next < mentions.length && getMentionEnd(mentions[next]) <= offset) next++
    const mention = mentions[next]
    const after = offset + match[0].length
    tokens.push({
      text: plain,
      lower: plain.toLowerCase(),
      start: offset,
      end: offset + plain.length,
      isWord,
      // `the owners' house`, but not `the 'owners'`
      possessive:
        isWord &&
        (plain.length < match[0].length || (plain.endsWith('s') && isQuote(text, after) && text[after + 1] === ' ')),
      mention: mention !== undefined && mention.offset <= offset ? next : undefined,
    })
  }
  return tokens
}

function isQuote(text: string, offset: number): boolean {
  const code = text.charCodeAt(offset)
  return code === 39 || code === 0x2019
}

function getMentionEnd(mention: EntityMention | undefined): number {
  return mention === undefined ? Number.MAX_SAFE_INTEGER : mention.offset + mention.name.length
}

export function isCapitalised(word: string): boolean {
  return /^\p{Lu}/u.test(word)
}
