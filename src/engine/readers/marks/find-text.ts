/*
 * Locates a text among the characters of a page. The recognised text and the drawn page may differ in spaces, hyphens,
 * case, ligatures and in the order of columns and cells, but not in letters and digits.
 */

/** A line or paragraph to locate, with the text before and after it in the document. */
export interface TargetText {
  text: string
  before: string
  after: string
}

/** The letters and digits of a list of parts, and for each the index of its part. */
export interface Letters {
  text: string
  partIndexes: number[]
}

/** This many equal letters in a row show that two texts agree there. */
const RUN_LENGTH = 8
/** A form may repeat one line a hundred times; further occurrences of a text are not compared. */
const MAX_OCCURRENCES = 200
/** Maximal number of positions remembered for one run. */
const MAX_POSITIONS_PER_RUN = 12
/** Number of letters of the surrounding text that are compared. */
const MAX_CONTEXT_LETTERS = 80
/**
 * Up to this many letters skipped between two agreeing runs belong to the match: a word that was recognised
 * differently.
 */
const MAX_SKIPPED = 24
/** When a smaller fraction of the letters is found, it is another text. */
const MIN_FOUND_FRACTION = 0.5

/** @param parts the characters of a page, or a text as one part */
export function extractLetters(parts: readonly string[]): Letters {
  let text = ''
  const partIndexes: number[] = []
  for (const [partIndex, part] of parts.entries()) {
    const letters = part
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, '')
    text += letters
    for (let unit = 0; unit < letters.length; unit++) partIndexes.push(partIndex)
  }
  return { text, partIndexes }
}

/**
 * Finds the characters of a page that make up the texts.
 *
 * @param mode `exact`: finds only texts that match letter by letter
 * @returns indexes of the page's parts
 */
export function findTexts(
  page: Letters,
  targets: readonly TargetText[],
  mode: 'similar' | 'exact' = 'similar',
): Set<number> {
  const found = new Set<number>()
  let runs: Map<string, number[]> | undefined
  let last = 0
  for (const { text, before, after } of targets) {
    const letters = extractLetters([text]).text
    if (letters === '') continue
    const surroundings = { before: extractLetters([before]).text, after: extractLetters([after]).text }
    const at = findBestOccurrence(page.text, letters, surroundings, last)
    if (at !== undefined) {
      for (let unit = at; unit < at + letters.length; unit++) add(found, page.partIndexes[unit])
      last = at + letters.length
    } else if (mode === 'similar') {
      runs ??= indexRuns(page.text)
      for (const unit of findSimilarUnits(page.text, letters, runs, last)) add(found, page.partIndexes[unit])
    }
  }
  return found
}

function add(found: Set<number>, index: number | undefined): void {
  if (index !== undefined) found.add(index)
}

/** Of all occurrences, finds the one with the most similar surroundings; of equal ones the next after `last`. */
function findBestOccurrence(
  page: string,
  letters: string,
  { before, after }: Omit<TargetText, 'text'>,
  last: number,
): number | undefined {
  let best: { at: number; score: number } | undefined
  let at = page.indexOf(letters)
  for (let tried = 0; at !== -1 && tried < MAX_OCCURRENCES; tried++) {
    const score = countSameBefore(page, at, before) + countSameAfter(page, at + letters.length, after)
    if (best === undefined || score > best.score || (score === best.score && best.at < last && at >= last))
      best = { at, score }
    at = page.indexOf(letters, at + 1)
  }
  return best?.at
}

function countSameBefore(page: string, end: number, text: string): number {
  const maxCount = Math.min(MAX_CONTEXT_LETTERS, end, text.length)
  let same = 0
  while (same < maxCount && page[end - 1 - same] === text[text.length - 1 - same]) same++
  return same
}

function countSameAfter(page: string, start: number, text: string): number {
  const maxCount = Math.min(MAX_CONTEXT_LETTERS, page.length - start, text.length)
  let same = 0
  while (same < maxCount && page[start + same] === text[same]) same++
  return same
}

function indexRuns(page: string): Map<string, number[]> {
  const runs = new Map<string, number[]>()
  for (let at = 0; at + RUN_LENGTH <= page.length; at++) {
    const run = page.slice(at, at + RUN_LENGTH)
    const positions = runs.get(run)
    if (positions === undefined) runs.set(run, [at])
    else if (positions.length < MAX_POSITIONS_PER_RUN) positions.push(at)
  }
  return runs
}

/** Finds the letters of a page that share long runs with a text, including the few that differ between two runs. */
function findSimilarUnits(page: string, letters: string, runs: Map<string, number[]>, last: number): number[] {
  const pairs: [own: number, at: number, length: number][] = []
  let expected = last
  let own = 0
  while (own + RUN_LENGTH <= letters.length) {
    const at = nearestPosition(runs.get(letters.slice(own, own + RUN_LENGTH)), expected)
    if (at === undefined) {
      own++
      continue
    }
    let length = RUN_LENGTH
    while (own + length < letters.length && letters[own + length] === page[at + length]) length++
    pairs.push([own, at, length])
    own += length
    expected = at + length
  }
  const shared = pairs.reduce((sum, [, , length]) => sum + length, 0)
  return shared < MIN_FOUND_FRACTION * letters.length
    ? []
    : pairs.flatMap((pair, pairIndex) => unitsOfRun(pair, pairs[pairIndex - 1]))
}

function unitsOfRun(
  [own, at, length]: [number, number, number],
  before: [number, number, number] | undefined,
): number[] {
  const end = before === undefined ? at : before[1] + before[2]
  const skipped = before === undefined ? 0 : own - before[0] - before[2]
  const gap = at - end
  const from = gap > 0 && gap <= MAX_SKIPPED && skipped <= MAX_SKIPPED ? end : at
  return Array.from({ length: at + length - from }, (_, unit) => from + unit)
}

/** The first position at or after the expected one, else the first of all. */
function nearestPosition(positions: readonly number[] | undefined, expected: number): number | undefined {
  return positions?.find((at) => at >= expected) ?? positions?.[0]
}
