/*
 * Where a text stands among the characters of a page. Spaces, hyphens, cases and ligatures differ between what was read of a
 * page and what is drawn on it, and so does the order of columns and cells; letters and digits do not.
 */

/** One line or paragraph that is looked for, with what stands before and behind it in the document. */
export interface Wanted {
  text: string
  before: string
  behind: string
}

/** Letters and digits of something, and which of its characters each came from. */
export interface Letters {
  text: string
  places: number[]
}

/** so many letters in a row are enough to say that two texts are the same there */
const RUN = 8
/** a page of forms repeats one line a hundred times; more places of one text are not compared */
const MOST_PLACES = 200
/** places of one run that are remembered */
const MOST_OF_RUN = 12
/** of the neighbours of a text so many letters are compared */
const NEIGHBOURS = 80
/** What was skipped between two runs that agree is part of it, up to so many letters: a word that was read otherwise. */
const MOST_SKIPPED = 24
/** with less of it found, it is another text */
const LEAST_FOUND = 0.5

/** @param parts characters of a page, or a text as one part */
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
 * Which characters of a page the texts are, as places among the page's parts.
 *
 * @param isExact only texts that stand there letter by letter are found
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

/** Of the places where the letters stand the one whose neighbours are the text's own; of equal ones the next. */
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

/** The letters of a page that a text shares with it in long runs, with the few that differ between two of them. */
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

/** The first place from the expected one on, else the first of all. */
function nearest(places: readonly number[] | undefined, expected: number): number | undefined {
  return places?.find((at) => at >= expected) ?? places?.[0]
}
