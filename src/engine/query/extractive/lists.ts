import { splitSentences } from '../../../lib/text/sentences.js'

/** A question that is answered by several things or steps: a plural after its question word, or asking for a list. */
const WANTS_LIST = new RegExp(
  [
    String.raw`^\s*(?:please )?(?:list|name|enumerate|give)\b|\b(?:what|which|who) (?:\p{L}+ ){0,3}?(?:are|were)\b`,
    String.raw`\b(?:what|which) (?:\p{L}+ ){0,2}?\p{L}{3,}(?<![su])s\b|\bhow (?:do|can|should|to)\b|\bsteps\b`,
    String.raw`\bwelche\b|\bwas sind\b|\bwer sind\b|\bnenne\b|\bwie (?:kann|mache|geht|muss)\b|\bschritte\b`,
    String.raw`\bquel(?:le)?s\b|\bqui sont\b|\bcomment\b|\bétapes\b|\bcuáles\b|\bquiénes\b|\bqué \p{L}+s\b|\bcómo\b|\bpasos\b`,
    '哪些|哪几|哪幾|有什么|列出|列举|分别是|如何|怎么|怎样|步骤',
  ].join('|'),
  'iu',
)
/** What begins an entry of a list in plain text and Markdown. */
const ENTRY = /^[ \t]*(?:[-*•‣–]|\d{1,3}[.)]|\([a-z\d]\))[ \t]+(?=\S)/u
const RULE = /^[\s|:+=*-]+$/
const BAR = /\s\|\s/
/** A longer list is told up to here, in entries and in characters. */
const MOST_ENTRIES = 15
const MOST_CHARACTERS = 900
/** Entries that are longer on the average are paragraphs. */
const ENTRY_CHARACTERS = 200

/** A list of a text, its entries without their marks. */
export interface List {
  /** the sentence before it, where that ends in a colon; else empty */
  intro: string
  entries: readonly string[]
}

/** Whether a question wants several things. */
export function wantsList(question: string): boolean {
  return WANTS_LIST.test(question)
}

/** A text as what is no list and its lists, in order. */
export function segmentsOf(text: string): (string | List)[] {
  if (!/^[ \t]*(?:[-*•‣–]|\d{1,3}[.)]|\([a-z\d]\))[ \t]/mu.test(text)) return [text]
  const segments: (string | List)[] = []
  let plain: string[] = []
  let entries: string[] = []
  const close = (): void => {
    const lines = entries
    entries = []
    if (!isList(lines)) {
      plain.push(...lines)
      return
    }
    const { before, intro } = cutIntro(plain.join('\n'))
    if (before.trim() !== '') segments.push(before)
    segments.push({ intro, entries: lines.map((line) => line.replace(ENTRY, '').replace(/\s+/g, ' ').trim()) })
    plain = []
  }
  for (const line of text.split('\n')) {
    if (ENTRY.test(line) && !RULE.test(line) && !BAR.test(line)) entries.push(line)
    else if (entries.length > 0 && /^[ \t]{2,}\S/u.test(line)) entries.push(`${entries.pop() ?? ''} ${line.trim()}`)
    else if (entries.length === 0 || line.trim() !== '') {
      if (entries.length > 0) close()
      plain.push(line)
    }
  }
  close()
  if (plain.join('').trim() !== '') segments.push(plain.join('\n'))
  return segments
}

function isList(lines: readonly string[]): boolean {
  const characters = lines.reduce((sum, line) => sum + line.length, 0)
  return lines.length > 1 && characters <= ENTRY_CHARACTERS * lines.length
}

/** Takes the sentence that ends in a colon off the end of a text. */
function cutIntro(text: string): { before: string; intro: string } {
  const last = /[:：]\s*$/u.test(text) ? splitSentences(text).at(-1) : undefined
  if (last === undefined) return { before: text, intro: '' }
  return { before: text.slice(0, last.start), intro: text.slice(last.start, last.end).replace(/\s+/g, ' ') }
}

/** The whole list in a line, up to a bound. */
export function toldList({ intro, entries }: List): string {
  const kept: string[] = []
  let length = intro.length
  for (const entry of entries) {
    if (kept.length >= MOST_ENTRIES || length + entry.length > MOST_CHARACTERS) break
    kept.push(entry.replace(/[;,.。；]$/u, ''))
    length += entry.length + 2
  }
  return `${intro === '' ? '' : `${intro} `}${kept.join('; ')}${kept.length < entries.length ? '; …' : '.'}`
}

/** Entries that hold words of the question which the list's opening lacks, with that opening. */
export function entriesAsked({ intro, entries }: List, countAsked: (text: string) => number): string[] {
  const opened = countAsked(intro)
  return entries
    .map((entry) => (intro === '' ? entry : `${intro} ${entry}`))
    .filter((entry) => intro === '' || countAsked(entry) > opened)
}
