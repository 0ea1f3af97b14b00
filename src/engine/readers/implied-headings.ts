import { type HeadingNumber, hasKindWord, isAfter, parseHeadingNumber } from './heading-numbers.js'

/** A block of a document that does not mark its headings, with its style. */
export interface StyledBlock {
  text: string
  /** whether it may be a heading: a separate paragraph whose text is not mostly links */
  isHeadingCandidate: boolean
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
const MIN_SIZE_RATIO = 1.12
const MAX_HEADING_WORDS = 14
/** Maximum length of a numbered heading: those of laws are long. */
const MAX_NUMBERED_LENGTH = 300
/** Minimum length of the prose below a heading. */
const MIN_PROSE_LENGTH = 60
/** Maximum fraction of the text in styled headings; above it, the style means something else. */
const MAX_STYLED_FRACTION = 0.2
/** A line that is repeated more often is a label or a running header. */
const MAX_REPEATS = 5
/** Levels of headings that are recognized by their style alone. */
const MAX_STYLE_LEVELS = 3

interface HeadingCandidate {
  blockIndex: number
  number: HeadingNumber | undefined
  listed: number | undefined
  /** sort key of the style: the smaller, the more prominent */
  styleKey: string
  key: string
}

/**
 * Finds the headings of a document that marks none, and their levels, by style, number and table of contents: short
 * separate lines that are larger, bold, underlined or in capitals, with prose below; and `Item 7` or `Article 3` in any
 * style.
 *
 * @returns levels by index of the block, outermost 1
 */
export function findImpliedHeadings(blocks: readonly StyledBlock[]): Map<number, number> {
  const found = keepWithBody(keepRising(findCandidates(blocks)), blocks)
  return computeLevels(removeLabels(found, blocks))
}

/** Letters and digits of a line in lower case, to compare lines. */
export function toComparisonKey(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

function findCandidates(blocks: readonly StyledBlock[]): HeadingCandidate[] {
  return blocks.flatMap((block, blockIndex): HeadingCandidate[] => {
    if (!block.isHeadingCandidate || block.text.length > MAX_NUMBERED_LENGTH || !/\p{L}{2}/u.test(block.text)) return []
    const number = parseHeadingNumber(block.text)
    const styleKey = computeStyleKey(block)
    const isCandidate =
      block.listed !== undefined ||
      (hasKindWord(number) && isTitle(block, styleKey)) ||
      (styleKey !== undefined && isShort(block.text, number))
    return isCandidate
      ? [{ blockIndex, number, listed: block.listed, styleKey: styleKey ?? '', key: toComparisonKey(block.text) }]
      : []
  })
}

/** Accepts `Item 7. Management's discussion`, rejects `Item 7 of this report describes` … */
function isTitle({ text }: StyledBlock, styleKey: string | undefined): boolean {
  const rest = text.replace(/^\S+[\s\u00a0]*[\dA-Z.]+[A-Z]?[.:)—–-]*[\s\u00a0]*/u, '')
  if (rest !== '' && !/^[\p{Lu}\p{N}["'“‘([]/u.test(rest)) return false
  return styleKey !== undefined || (text.split(/\s+/).length <= MAX_HEADING_WORDS && !/[,;.]$/.test(rest))
}

/** Prominent lines that begin no section: asides, labels with a value, years that are compared. */
const NOT_A_TITLE = /^\([^()]*\)\.?$|:\s*\S*\d|[$€£¥]\s?\d|\b(?:19|20)\d\d\W{1,3}(?:\p{L}{1,3}\s)?(?:19|20)\d\d$/u

function isShort(text: string, number: HeadingNumber | undefined): boolean {
  if (NOT_A_TITLE.test(text)) return false
  if (text.split(/\s+/).length > MAX_HEADING_WORDS || /[,;:]$/.test(text)) return false
  if (/\.$/.test(text) && !/^\S{1,8}$/.test(text) && number === undefined) return text.split(/\s+/).length <= 5
  // Amounts, dates and column headers are no titles.
  const letters = text.match(/\p{L}/gu)?.length ?? 0
  return letters >= text.replace(/\s/g, '').length * 0.6
}

/** Sort key of a block's style; `undefined` for the style of the body. Order: larger, bold, capitals, the rest. */
function computeStyleKey({ text, size, bold, italic, underlined }: StyledBlock): string | undefined {
  const capitals = !/\p{Ll}/u.test(text) && (text.match(/\p{Lu}/gu)?.length ?? 0) >= 4
  const larger = size >= MIN_SIZE_RATIO
  if (!larger && !bold && !underlined && !capitals) return undefined
  const height = larger ? String(Math.round(1000 - size * 10)).padStart(4, '0') : '1000'
  return [height, bold ? 0 : 1, capitals ? 0 : 1, italic ? 1 : 0, underlined ? 0 : 1].join('/')
}

/** Keeps the candidates whose worded numbers rise through the document; others are mentions or running headers. */
function keepRising(candidates: readonly HeadingCandidate[]): HeadingCandidate[] {
  const last = new Map<string, { parts: number[]; rank: number }>()
  return candidates.filter(({ number, listed }) => {
    if (number === undefined || !hasKindWord(number)) return true
    const previous = last.get(number.kind)
    if (previous !== undefined && listed === undefined && !isAfter(number.parts, previous.parts)) return false
    last.set(number.kind, { parts: number.parts, rank: number.rank })
    // Inner numbers restart below an outer one, but continue across parts.
    for (const [kind, { rank }] of last) if (rank > number.rank && number.kind !== 'part') last.delete(kind)
    return true
  })
}

/** Keeps the candidates with prose below, or with other headings that have some. */
function keepWithBody(candidates: readonly HeadingCandidate[], blocks: readonly StyledBlock[]): HeadingCandidate[] {
  const accepted: HeadingCandidate[] = []
  let next = blocks.length
  let hasBody = false
  for (const candidate of [...candidates].reverse()) {
    const below = blocks[candidate.blockIndex + 1]
    if (candidate.blockIndex + 1 !== next || below === undefined) hasBody = below !== undefined && isBody(below)
    const isCertain = candidate.listed !== undefined || hasKindWord(candidate.number)
    if (hasBody || isCertain) {
      accepted.push(candidate)
      hasBody = true
      next = candidate.blockIndex
    } else {
      next = blocks.length
    }
  }
  return accepted.reverse()
}

function isBody({ text, isOther, bold }: StyledBlock): boolean {
  return isOther || (!bold && text.length >= MIN_PROSE_LENGTH && /\p{Ll}{2}/u.test(text))
}

function removeLabels(candidates: readonly HeadingCandidate[], blocks: readonly StyledBlock[]): HeadingCandidate[] {
  const repeats = new Map<string, number>()
  for (const { key } of candidates) repeats.set(key, (repeats.get(key) ?? 0) + 1)
  const isCertain = ({ listed, number }: HeadingCandidate): boolean => listed !== undefined || hasKindWord(number)
  let last = ''
  const unrepeated = candidates.filter((candidate) => {
    const isRepeated = candidate.key === last
    last = candidate.key
    return !isRepeated && (isCertain(candidate) || (repeats.get(candidate.key) ?? 0) <= MAX_REPEATS)
  })
  const total = blocks.reduce((sum, { text }) => sum + text.length, 0)
  const styled = unrepeated.filter((candidate) => !isCertain(candidate))
  const length = styled.reduce((sum, { blockIndex }) => sum + (blocks[blockIndex]?.text.length ?? 0), 0)
  return length <= total * MAX_STYLED_FRACTION ? unrepeated : unrepeated.filter(isCertain)
}

/** Headings with worded numbers rank above those known by style alone; among these, more prominent ones rank higher. */
function computeLevels(candidates: readonly HeadingCandidate[]): Map<number, number> {
  const worded = candidates.flatMap(({ number }) => (number !== undefined && hasKindWord(number) ? [number.rank] : []))
  const ranks = [...new Set(worded)].sort((a, b) => a - b)
  const first = candidates.findIndex(({ number }) => hasKindWord(number))
  const styles = candidates.filter(
    ({ number, listed }, index) => !hasKindWord(number) && listed === undefined && index > first,
  )
  const styleKeys = [...new Set(styles.map(({ styleKey }) => styleKey))].sort()
  const levels = new Map<number, number>()
  let lastListedLevel = 0
  for (const [index, { blockIndex, number, listed, styleKey }] of candidates.entries()) {
    const rank = number !== undefined && hasKindWord(number) ? ranks.indexOf(number.rank) : -1
    // Headings before the first worded one belong to the cover.
    const coverLevel = index < first ? 1 : 0
    const styleLevel = ranks.length + 1 + Math.min(MAX_STYLE_LEVELS - 1, Math.max(0, styleKeys.indexOf(styleKey)))
    const decimalLevel = number?.kind === 'decimal' ? ranks.length + Math.min(4, number.parts.length) : 0
    if (rank >= 0) levels.set(blockIndex, rank + 1)
    else if (listed !== undefined)
      levels.set(blockIndex, ranks.length === 0 ? listed : Math.max(listed, ranks.length + 1))
    else if (coverLevel > 0) levels.set(blockIndex, 1)
    else
      levels.set(
        blockIndex,
        decimalLevel > 0 && ranks.length + lastListedLevel === 0
          ? decimalLevel
          : Math.max(styleLevel, lastListedLevel + 1),
      )
    if (listed !== undefined || rank >= 0) lastListedLevel = levels.get(blockIndex) ?? 0
  }
  return levels
}
