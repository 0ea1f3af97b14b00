import type { AssembledDocument } from '../elements.js'
import type { FileText, ParsedDocument } from '../parsed.js'
import type { CountedFile } from './markup-texts.js'
import { findTexts } from './text-finders.js'
import { forEachWord, SEAM, WordCounts } from './word-counts.js'

/** Fewer words, and a smaller fraction of all, are no warning: a number that is spelled in another way. */
const MIN_WORDS = 3
const MIN_FRACTION = 0.005
/** From this number of words on it is a loss in a long file, too. */
const MAX_WORDS = 40
/** Constructs that a warning names. */
const MAX_NAMED = 5
/** Characters of the document that are compared with texts of the file once more. */
const MAX_COMPARED = 100_000_000
const NO_WORD = /[^\p{L}\p{N}]+/gu

interface UnreadWords {
  /** words of the file */
  total: number
  /** texts of the file with words that are not in the document */
  texts: { construct: string; words: string[] }[]
}

/** What is counted of a document: its text, and what it has besides. */
type CountedDocument = Pick<ParsedDocument, 'metadata' | 'declared' | 'leftOut' | 'sourceTexts'> &
  Pick<AssembledDocument, 'title' | 'text' | 'elements'> & { fileNames: readonly string[] }

/**
 * The warning of a document whose file has words that the document does not have, with their number and the constructs
 * that contain them.
 */
export async function warnOfUnreadWords(input: CountedFile, document: CountedDocument): Promise<string | undefined> {
  const unread = await findUnreadWords(input, document)
  if (unread === undefined) return undefined
  const counts = new Map<string, number>()
  let sum = 0
  for (const { construct, words } of unread.texts) {
    counts.set(construct, (counts.get(construct) ?? 0) + words.length)
    sum += words.length
  }
  if (!isLoss(sum, unread.total)) return undefined
  const names = [...counts].sort(([, one], [, two]) => two - one).map(([name]) => name)
  const listed = names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), 'others'] : names
  const of = unread.total.toLocaleString('en-US')
  return `${sum.toLocaleString('en-US')} of ${of} words of the file are not in its text: ${listed.join(', ')}`
}

/** Compares the words of a file with those of its document; undefined for a format whose words are not counted. */
async function findUnreadWords(input: CountedFile, document: CountedDocument): Promise<UnreadWords | undefined> {
  const counts = new WordCounts()
  counts.add(document.text)
  for (const { text } of document.leftOut ?? []) counts.add(text)
  const comparison = new Comparison(counts)
  for (const text of document.sourceTexts ?? []) comparison.take(text)
  try {
    if (!(await findTexts(input, (text) => comparison.take(text))) && document.sourceTexts === undefined)
      return undefined
  } catch {
    // a part that no reader needs may be damaged
    return undefined
  }
  const { total, missing } = comparison
  const sum = missing.reduce((count, { words }) => count + words.length, 0)
  return { total, texts: isLoss(sum, total) ? dropFound(missing, document) : missing }
}

function isLoss(count: number, total: number): boolean {
  return count >= MIN_WORDS && (count > total * MIN_FRACTION || count >= MAX_WORDS)
}

interface MissingText {
  text: string
  construct: string
  words: string[]
}

class Comparison {
  readonly #counts: WordCounts
  readonly #repeated = new Set<string>()
  readonly missing: MissingText[] = []
  total = 0

  /** @param counts the words of the document */
  constructor(counts: WordCounts) {
    this.#counts = counts
  }

  /** Takes the words of a text out of the counts. Where letters have several formats, a word may go on between them. */
  take(found: FileText): void {
    const { text, construct, isRepeated, hasRawNumbers } = found
    if (isRepeated === true && this.#repeated.size === this.#repeated.add(text).size) return
    const words: string[] = []
    forEachWord(text, (hash, start, end) => {
      if (hasRawNumbers === true && isDigit(text.charCodeAt(start))) return
      this.total++
      if (this.#takeWord(hash, found)) return
      const parts = text.slice(start, end).split(SEAM)
      const lost = parts.filter((part) => part !== '' && !this.#takeWord(hashWord(part), found))
      words.push(...(lost.length === parts.length ? [parts.join('')] : lost))
    })
    if (words.length > 0) this.missing.push({ text, construct, words })
  }

  #takeWord(hash: number, { isRepeated }: FileText): boolean {
    return isRepeated === true ? this.#counts.has(hash) : this.#counts.take(hash)
  }
}

function hashWord(word: string): number {
  let result = 0
  forEachWord(word, (hash) => {
    result = hash
  })
  return result
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

/** Leaves out words that the document has in its title or metadata, or joined or hyphenated in another way. */
function dropFound(missing: readonly MissingText[], document: CountedDocument): MissingText[] {
  const { title, metadata, declared, elements, fileNames, leftOut = [] } = document
  const besides = `${title}\n${JSON.stringify([metadata, declared, elements.map((element) => element.metadata), fileNames])}`
  const counts = new WordCounts()
  counts.add(besides)
  const letters = toLetters([document.text, besides, ...leftOut.map(({ text }) => text)].join('\n'))
  let budget = MAX_COMPARED
  return missing.flatMap(({ text, construct, words }) => {
    const unread = words.filter((word) => !counts.has(hashWord(word)))
    budget -= letters.length
    if (unread.length === 0 || (budget > 0 && letters.includes(toLetters(text)))) return []
    return [{ text, construct, words: unread }]
  })
}

function toLetters(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(NO_WORD, '')
}
