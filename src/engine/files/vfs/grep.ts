import type { FsGrepQuery, GrepListing } from '../../../contract/gateway/fs.js'
import {
  describeLine,
  findFirstMatch,
  LineCounter,
  type LineSelection,
  type SelectedLine,
  searchLines,
} from './lines.js'
import {
  type CursorPosition,
  type GrepMatch,
  getCursorInteger,
  getCursorText,
  type TextUnit,
  type VfsNode,
} from './namespace.js'
import type { PatternMatch, SearchPattern } from './pattern.js'
import { makeSnippet } from './snippet.js'
import type { PagedView } from './view.js'

/** Where a search continues: after the last finished text, and at an offset of the next one, if that is unchanged. */
interface GrepResume {
  after: CursorPosition | undefined
  unit: string
  offset: number
  /** matches of the unit that earlier pages returned */
  count: number
}

interface GrepRequest {
  pattern: SearchPattern
  limit: number
  /** undefined: each entry is a match */
  selection: LineSelection | undefined
}

/** UTF-16 units of lines on a page; a page ends after the line that exceeds it */
const MAX_PAGE_UNITS = 1024 * 1024
/** UTF-16 units that the range of a match takes in a reply */
const SPAN_UNITS = 24

/** Searches the texts at and below a node until the limit or the time of the view's clock is reached. */
export async function grep(
  view: PagedView,
  node: VfsNode,
  request: GrepRequest,
): Promise<Pick<GrepListing, 'matches' | 'truncated' | 'nextCursor'>> {
  const page = new GrepPage(request.limit)
  const resume = readResume(view.after)
  let finished = resume?.after
  let resumed = resume
  const stop = (unit: string, offset: number, count: number) => ({
    matches: page.matches,
    truncated: true,
    nextCursor: view.cursorAt([...(finished ?? []), unit, offset, count]),
  })
  for await (const unit of node.texts(resume?.after)) {
    const start = resumed?.unit === unit.id ? resumed : { offset: 0, count: 0 }
    resumed = undefined
    const reached = await searchUnit({ view, ...request, unit, page }, start)
    if (reached.offset < unit.text.length) return stop(unit.id, reached.offset, reached.count)
    // a page that runs out of time has finished at least one text, or a part of it: the next page makes progress
    finished = unit.after
    if (view.clock.isOver) return stop('', 0, 0)
    await view.clock.yieldIfDue()
  }
  return { matches: page.matches, truncated: false }
}

/** The lines that a query selects; undefined unless its entries are lines. */
export function toLineSelection(query: FsGrepQuery): LineSelection | undefined {
  const { by, before, after, linesPerText, inverted, wholeWords } = query
  if ([by, before, after, linesPerText, inverted, wholeWords].every((value) => value === undefined)) return undefined
  return {
    isInverted: query.inverted === 'true',
    before: query.before ?? 0,
    after: query.after ?? 0,
    perText: query.linesPerText ?? Number.POSITIVE_INFINITY,
  }
}

/** The entries of a page, which ends at a number of entries or a size of their text. */
class GrepPage {
  readonly matches: GrepMatch[] = []
  readonly #limit: number
  #units = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  get isFull(): boolean {
    return this.matches.length === this.#limit || this.#units > MAX_PAGE_UNITS
  }

  add(match: GrepMatch): void {
    this.matches.push(match)
    for (const line of [match.text, ...(match.before ?? []), ...(match.after ?? [])]) this.#units += line?.length ?? 0
    this.#units += (match.spans?.length ?? 0) * SPAN_UNITS
  }
}

interface UnitSearch extends GrepRequest {
  view: PagedView
  unit: TextUnit
  page: GrepPage
}

/** A match or a selected line; the search continues at `next`. */
interface GrepHit extends PatternMatch {
  next: number
  line?: SelectedLine
}

/** @returns the offset up to which the text was searched: its length, unless the limit or the time was reached */
async function searchUnit(
  { view, pattern, selection, unit, page }: UnitSearch,
  start: { offset: number; count: number },
): Promise<{ offset: number; count: number }> {
  const counter = new LineCounter(unit.text, view.clock)
  let { offset, count } = start
  const maxCount = selection?.perText ?? Number.POSITIVE_INFINITY
  for (const piece of findHits({ pattern, selection, unit }, offset)) {
    for (const hit of piece.hits) {
      if (count >= maxCount) return { offset: unit.text.length, count }
      if (page.isFull) return { offset, count }
      const match = { ...(await unit.describe(hit.start, hit.end)), snippet: makeSnippet(unit.text, hit) }
      if (selection === undefined || hit.line === undefined) page.add(match)
      else page.add({ ...match, ...(await describeLine(unit.text, hit.line, counter, selection)) })
      offset = hit.next
      count += 1
      await view.clock.yieldIfDue()
    }
    offset = piece.reached
    if (view.clock.isOver) return { offset, count }
    await view.clock.yieldIfDue()
  }
  return { offset: unit.text.length, count }
}

function* findHits(
  { pattern, selection, unit: { text } }: Pick<UnitSearch, 'pattern' | 'selection' | 'unit'>,
  from: number,
): Generator<{ hits: GrepHit[]; reached: number }> {
  if (selection === undefined) {
    for (const { matches, reached } of pattern.search(text, from))
      yield { hits: matches.map((match) => ({ ...match, next: match.end })), reached }
    return
  }
  for (const { lines, reached } of searchLines(pattern, text, from, selection))
    yield { hits: lines.map(toLineHit), reached }
}

function toLineHit(line: SelectedLine): GrepHit {
  const { start, end } = findFirstMatch(line)
  return { start, end, line, next: line.end + 1 }
}

function readResume(after: CursorPosition | undefined): GrepResume | undefined {
  if (after === undefined) return undefined
  const rest = after.slice(0, -3)
  return {
    after: rest.length === 0 ? undefined : rest,
    unit: getCursorText(after, after.length - 3),
    offset: getCursorInteger(after, after.length - 2),
    count: getCursorInteger(after, after.length - 1),
  }
}
