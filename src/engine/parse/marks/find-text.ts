/*
 * Locates a text among the characters of a page. The recognised text and the drawn page may differ in spaces, hyphens,
 * case, ligatures and in the order of columns and cells, but not in letters and digits.
 */

/** A line or paragraph to locate, with the text before and after it in the document. */
export interface Wanted {
  text: string
  before: string
  behind: string
}

/** The letters and digits of a list of parts, and for each the index of its part. */
export interface Letters {
  text: string
  places: number[]
}

/** This many equal letters in a row show that two texts agree there. */
const RUN = 8
/** A form may repeat one line a hundred times; further occurrences of a text are not compared. */
const MOST_PLACES = 200
/** Maximal number of positions remembered for one run. */
const MOST_OF_RUN = 12
/** Number of letters of the surrounding text that are compared. */
const NEIGHBOURS = 80
/**
 * Up to this many letters skipped between two agreeing runs belong to the match: a word that was recognised
 * differently.
 */
const MOST_SKIPPED = 24
/** When a smaller fraction of the letters is found, it is another text. */
const LEAST_FOUND = 0.5

/** @param parts the characters of a page, or a text as one part */
export function lettersIn(parts: readonly string[]): Letters {
  let text = ''
  const places: number[] = []
  for (const [place, part] of parts.entries()) {
    const letters = part
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, '')
    text += letters
    for (let unit = 0; unit < letters.length; unit++) places.push(place)
  }
  return { text, places }
}

/**
 * Finds the characters of a page that make up the texts.
 *
 * @param isExact finds only texts that match letter by letter
 * @returns indexes of the page's parts
 */
export function findTexts(page: Letters, wanted: readonly Wanted[], isExact = false): Set<number> {
  const found = new Set<number>()
  let runs: Map<string, number[]> | undefined
  let last = 0
  for (const { text, before, behind } of wanted) {
    const letters = lettersIn([text]).text
    if (letters === '') continue
    const at = bestPlace(page.text, letters, lettersIn([before]).text, lettersIn([behind]).text, last)
    if (at !== undefined) {
      for (let unit = at; unit < at + letters.length; unit++) add(found, page.places[unit])
      last = at + letters.length
    } else if (!isExact) {
      runs ??= runsOf(page.text)
      for (const unit of alikeUnits(page.text, letters, runs, last)) add(found, page.places[unit])
    }
  }
  return found
}

function add(found: Set<number>, place: number | undefined): void {
  if (place !== undefined) found.add(place)
}

/** Of all occurrences, finds the one with the most similar surroundings; of equal ones the next after `last`. */
function bestPlace(page: string, letters: string, before: string, behind: string, last: number): number | undefined {
  let best: { at: number; score: number } | undefined
  let at = page.indexOf(letters)
  for (let tried = 0; at !== -1 && tried < MOST_PLACES; tried++) {
    const score = alikeBefore(page, at, before) + alikeBehind(page, at + letters.length, behind)
    if (best === undefined || score > best.score || (score === best.score && best.at < last && at >= last))
      best = { at, score }
    at = page.indexOf(letters, at + 1)
  }
  return best?.at
}

function alikeBefore(page: string, end: number, text: string): number {
  const most = Math.min(NEIGHBOURS, end, text.length)
  let same = 0
  while (same < most && page[end - 1 - same] === text[text.length - 1 - same]) same++
  return same
}

function alikeBehind(page: string, start: number, text: string): number {
  const most = Math.min(NEIGHBOURS, page.length - start, text.length)
  let same = 0
  while (same < most && page[start + same] === text[same]) same++
  return same
}

function runsOf(page: string): Map<string, number[]> {
  const runs = new Map<string, number[]>()
  for (let at = 0; at + RUN <= page.length; at++) {
    const run = page.slice(at, at + RUN)
    const known = runs.get(run)
    if (known === undefined) runs.set(run, [at])
    else if (known.length < MOST_OF_RUN) known.push(at)
  }
  return runs
}

/** Finds the letters of a page that share long runs with a text, including the few that differ between two runs. */
function alikeUnits(page: string, letters: string, runs: Map<string, number[]>, last: number): number[] {
  const pairs: [own: number, at: number, length: number][] = []
  let expected = last
  let own = 0
  while (own + RUN <= letters.length) {
    const at = nearest(runs.get(letters.slice(own, own + RUN)), expected)
    if (at === undefined) {
      own++
      continue
    }
    let length = RUN
    while (own + length < letters.length && letters[own + length] === page[at + length]) length++
    pairs.push([own, at, length])
    own += length
    expected = at + length
  }
  const shared = pairs.reduce((sum, [, , length]) => sum + length, 0)
  return shared < LEAST_FOUND * letters.length ? [] : pairs.flatMap((pair, place) => unitsOf(pair, pairs[place - 1]))
}

function unitsOf([own, at, length]: [number, number, number], before: [number, number, number] | undefined): number[] {
  const end = before === undefined ? at : before[1] + before[2]
  const skipped = before === undefined ? 0 : own - before[0] - before[2]
  const gap = at - end
  const from = gap > 0 && gap <= MOST_SKIPPED && skipped <= MOST_SKIPPED ? end : at
  return Array.from({ length: at + length - from }, (_, unit) => from + unit)
}

/** The first position at or after the expected one, else the first of all. */
function nearest(places: readonly number[] | undefined, expected: number): number | undefined {
  return places?.find((at) => at >= expected) ?? places?.[0]
}
