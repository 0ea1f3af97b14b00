import { comesAfter, type HeadingNumber, headingNumber, isWorded } from './heading-numbers.js'

/** A block of a document that does not mark its headings, with its style. */
export interface StyledBlock {
  text: string
  /** whether it may be a heading: a separate paragraph whose text is not mostly links */
  stands: boolean
  /** font size divided by that of the body text */
  size: number
  bold: boolean
  italic: boolean
  underlined: boolean
  /** content under a heading that is not prose: a table, a list, code, a picture */
  isOther: boolean
  /** level in a table of contents, outermost 1 */
  listed?: number
}

/** Minimum size of a heading, divided by that of the body text. */
const LARGER = 1.12
const MAX_WORDS = 14
/** Maximum length of a numbered heading: those of laws are long. */
const MAX_NUMBERED = 300
/** Minimum length of the prose below a heading. */
const MIN_PROSE = 60
/** Maximum fraction of the text in styled headings; above it, the style means something else. */
const MAX_SHARE = 0.2
/** A line that is repeated more often is a label or a running header. */
const MAX_REPEATS = 5
/** Levels of headings that are recognized by their style alone. */
const MAX_STYLES = 3

interface Candidate {
  place: number
  number: HeadingNumber | undefined
  listed: number | undefined
  /** sort key of the style: the smaller, the more prominent */
  look: string
  key: string
}

/**
 * Finds the headings of a document that marks none, and their levels, by style, number and table of contents: short
 * separate lines that are larger, bold, underlined or in capitals, with prose below; and `Item 7` or `Article 3` in any
 * style.
 *
 * @returns levels by index of the block, outermost 1
 */
export function impliedHeadings(blocks: readonly StyledBlock[]): Map<number, number> {
  const found = withProse(rising(candidatesIn(blocks)), blocks)
  return levelsOf(withoutLabels(found, blocks))
}

/** Letters and digits of a line in lower case, to compare lines. */
export function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

function candidatesIn(blocks: readonly StyledBlock[]): Candidate[] {
  return blocks.flatMap((block, place): Candidate[] => {
    if (!block.stands || block.text.length > MAX_NUMBERED || !/\p{L}{2}/u.test(block.text)) return []
    const number = headingNumber(block.text)
    const look = lookOf(block)
    const isOne =
      block.listed !== undefined ||
      (isWorded(number) && isTitleOf(block, look)) ||
      (look !== undefined && isShort(block.text, number))
    return isOne ? [{ place, number, listed: block.listed, look: look ?? '', key: lettersOf(block.text) }] : []
  })
}

/** Accepts `Item 7. Management's discussion`, rejects `Item 7 of this report describes` … */
function isTitleOf({ text }: StyledBlock, look: string | undefined): boolean {
  const rest = text.replace(/^\S+[\s\u00a0]*[\dA-Z.]+[A-Z]?[.:)—–-]*[\s\u00a0]*/u, '')
  if (rest !== '' && !/^[\p{Lu}\p{N}["'“‘([]/u.test(rest)) return false
  return look !== undefined || (text.split(/\s+/).length <= MAX_WORDS && !/[,;.]$/.test(rest))
}

/** Prominent lines that begin no section: asides, labels with a value, years that are compared. */
const NO_TITLE = /^\([^()]*\)\.?$|:\s*\S*\d|[$€£¥]\s?\d|\b(?:19|20)\d\d\W{1,3}(?:\p{L}{1,3}\s)?(?:19|20)\d\d$/u

function isShort(text: string, number: HeadingNumber | undefined): boolean {
  if (NO_TITLE.test(text)) return false
  if (text.split(/\s+/).length > MAX_WORDS || /[,;:]$/.test(text)) return false
  if (/\.$/.test(text) && !/^\S{1,8}$/.test(text) && number === undefined) return text.split(/\s+/).length <= 5
  // Amounts, dates and column headers are no titles.
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters >= text.replace(/\s/g, '').length * 0.6
}

/** Sort key of a block's style; `undefined` for the style of the body. Order: larger, bold, capitals, the rest. */
function lookOf({ text, size, bold, italic, underlined }: StyledBlock): string | undefined {
  const capitals = !/\p{Ll}/u.test(text) && (text.match(/\p{Lu}/gu)?.length ?? 0) >= 4
  const larger = size >= LARGER
  if (!larger && !bold && !underlined && !capitals) return undefined
  const height = larger ? String(Math.round(1000 - size * 10)).padStart(4, '0') : '1000'
  return [height, bold ? 0 : 1, capitals ? 0 : 1, italic ? 1 : 0, underlined ? 0 : 1].join('/')
}

/** Keeps the candidates whose worded numbers rise through the document; others are mentions or running headers. */
function rising(candidates: readonly Candidate[]): Candidate[] {
  const last = new Map<string, { parts: number[]; rank: number }>()
  return candidates.filter(({ number, listed }) => {
    if (number === undefined || !isWorded(number)) return true
    const before = last.get(number.kind)
    if (before !== undefined && listed === undefined && !comesAfter(number.parts, before.parts)) return false
    last.set(number.kind, { parts: number.parts, rank: number.rank })
    // Inner numbers restart below an outer one, but continue across parts.
    for (const [kind, { rank }] of last) if (rank > number.rank && number.kind !== 'part') last.delete(kind)
    return true
  })
}

/** Keeps the candidates with prose below, or with other headings that have some. */
function withProse(candidates: readonly Candidate[], blocks: readonly StyledBlock[]): Candidate[] {
  const kept: Candidate[] = []
  let next = blocks.length
  let good = false
  for (const candidate of [...candidates].reverse()) {
    const below = blocks[candidate.place + 1]
    if (candidate.place + 1 !== next || below === undefined) good = below !== undefined && isBody(below)
    const sure = candidate.listed !== undefined || isWorded(candidate.number)
    if (good || sure) {
      kept.push(candidate)
      good = true
      next = candidate.place
    } else {
      next = blocks.length
    }
  }
  return kept.reverse()
}

function isBody({ text, isOther, bold }: StyledBlock): boolean {
  return isOther || (!bold && text.length >= MIN_PROSE && /\p{Ll}{2}/u.test(text))
}

function withoutLabels(candidates: readonly Candidate[], blocks: readonly StyledBlock[]): Candidate[] {
  const repeats = new Map<string, number>()
  for (const { key } of candidates) repeats.set(key, (repeats.get(key) ?? 0) + 1)
  const sure = ({ listed, number }: Candidate): boolean => listed !== undefined || isWorded(number)
  let last = ''
  const single = candidates.filter((candidate) => {
    const again = candidate.key === last
    last = candidate.key
    return !again && (sure(candidate) || (repeats.get(candidate.key) ?? 0) <= MAX_REPEATS)
  })
  const total = blocks.reduce((sum, { text }) => sum + text.length, 0)
  const styled = single.filter((candidate) => !sure(candidate))
  const length = styled.reduce((sum, { place }) => sum + (blocks[place]?.text.length ?? 0), 0)
  return length <= total * MAX_SHARE ? single : single.filter(sure)
}

/** Headings with worded numbers rank above those known by style alone; among these, more prominent ones rank higher. */
function levelsOf(candidates: readonly Candidate[]): Map<number, number> {
  const worded = candidates.flatMap(({ number }) => (number !== undefined && isWorded(number) ? [number.rank] : []))
  const ranks = [...new Set(worded)].sort((a, b) => a - b)
  const first = candidates.findIndex(({ number }) => isWorded(number))
  const styles = candidates.filter(
    ({ number, listed }, index) => !isWorded(number) && listed === undefined && index > first,
  )
  const looks = [...new Set(styles.map(({ look }) => look))].sort()
  const levels = new Map<number, number>()
  let listedAt = 0
  for (const [index, { place, number, listed, look }] of candidates.entries()) {
    const rank = number !== undefined && isWorded(number) ? ranks.indexOf(number.rank) : -1
    // Headings before the first worded one belong to the cover.
    const before = index < first ? 1 : 0
    const own = ranks.length + 1 + Math.min(MAX_STYLES - 1, Math.max(0, looks.indexOf(look)))
    const deep = number?.kind === 'decimal' ? ranks.length + Math.min(4, number.parts.length) : 0
    if (rank >= 0) levels.set(place, rank + 1)
    else if (listed !== undefined) levels.set(place, ranks.length === 0 ? listed : Math.max(listed, ranks.length + 1))
    else if (before > 0) levels.set(place, 1)
    else levels.set(place, deep > 0 && ranks.length + listedAt === 0 ? deep : Math.max(own, listedAt + 1))
    if (listed !== undefined || rank >= 0) listedAt = levels.get(place) ?? 0
  }
  return levels
}
