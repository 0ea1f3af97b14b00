import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { Page, PageRequest } from '../../base/page.js'
import type { Read } from '../../store/program.js'
import { readablePage } from '../../store/readable.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'

/** A list of a space, in pages that continue after the id of a row. */
interface SpaceList<Row extends { id: string }, Item> {
  /** the name of the list, and what else its cursors depend on */
  filter: readonly [name: string, ...parameters: (string | undefined)[]]
  maxLimit: number
  /** @param after id of the last row of the page before; undefined for the first page */
  listRows: (space: SpaceRow, after: string | undefined, limit: number) => Read<Row[]>
  toItem: (space: SpaceRow, row: Row) => Item
}

export function* readSpacePage<Row extends { id: string }, Item>(
  caller: Caller,
  spaceId: string,
  page: PageRequest,
  { filter: [name, ...parameters], maxLimit, listRows, toItem }: SpaceList<Row, Item>,
): Read<Page<Item>> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const filter = hashFilter(name, caller.tenant, space.id, ...parameters)
  const after = page.cursor === undefined ? undefined : String(decodeCursor(page.cursor, filter).after[0] ?? '')
  const limit = Math.min(page.limit, maxLimit)
  return readablePage(
    yield* listRows(space, after, limit + 1),
    limit,
    (row) => toItem(space, row),
    ({ id }) => encodeCursor({ after: [id] }, filter),
  )
}
