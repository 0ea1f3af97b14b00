import type { GrepListing } from '../../../contract/gateway/fs.js'
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
}

/** Searches the texts at and below a node until the limit or the time of the view's clock is reached. */
export async function grep(
  view: PagedView,
  node: VfsNode,
  request: { pattern: SearchPattern; limit: number },
): Promise<Pick<GrepListing, 'matches' | 'truncated' | 'nextCursor'>> {
  const matches: GrepMatch[] = []
  const resume = readResume(view.after)
  let finished = resume?.after
  let resumed = resume
  const stop = (unit: string, offset: number) => ({
    matches,
    truncated: true,
    nextCursor: view.cursorAt([...(finished ?? []), unit, offset]),
  })
  for await (const unit of node.texts(resume?.after)) {
    const from = resumed?.unit === unit.id ? resumed.offset : 0
    resumed = undefined
    const reached = await searchUnit({ view, pattern: request.pattern, unit, from, limit: request.limit, matches })
    if (reached < unit.text.length) return stop(unit.id, reached)
    // a page that runs out of time has finished at least one text, or a part of it: the next page makes progress
    finished = unit.after
    if (view.clock.isOver) return stop('', 0)
    await view.clock.yieldIfDue()
  }
  return { matches, truncated: false }
}

interface UnitSearch {
  view: PagedView
  pattern: SearchPattern
  unit: TextUnit
  from: number
  limit: number
  matches: GrepMatch[]
}

/** @returns the offset up to which the text was searched: its length, unless the limit or the time was reached */
async function searchUnit({ view, pattern, unit, from: start, limit, matches }: UnitSearch): Promise<number> {
  let reached = start
  for (const slice of pattern.search(unit.text, start)) {
    for (const match of slice.matches) {
      if (matches.length === limit) return reached
      matches.push(await describeMatch(unit, match))
      reached = match.end
    }
    reached = slice.reached
    if (view.clock.isOver) return reached
    await view.clock.yieldIfDue()
  }
  return unit.text.length
}

async function describeMatch(unit: TextUnit, match: PatternMatch): Promise<GrepMatch> {
  return { ...(await unit.describe(match.start, match.end)), snippet: makeSnippet(unit.text, match) }
}

function readResume(after: CursorPosition | undefined): GrepResume | undefined {
  if (after === undefined) return undefined
  const rest = after.slice(0, -2)
  return {
    after: rest.length === 0 ? undefined : rest,
    unit: getCursorText(after, after.length - 2),
    offset: getCursorInteger(after, after.length - 1),
  }
}
