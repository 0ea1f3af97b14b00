import { setImmediate as turn } from 'node:timers/promises'
import type { ExpectedCounts } from '../search/ports.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'

/** rows counted before others get a turn: some milliseconds */
const COUNTED_A_TURN = 5_000

interface Row {
  key: number
  seq: number | null
  nodes: number | null
  vector_space: string | null
  vector_key: number | null
  vectors: number | null
}

/** What whole indexes of a space hold, by the counters that the triggers of the schema keep: three look-ups. */
export function* expectedCounts(space: string): Read<ExpectedCounts> {
  const row = yield* head(space)
  return {
    seq: row?.seq ?? 0,
    nodes: row?.nodes ?? 0,
    vectors: row?.vectors ?? 0,
    ...(row === undefined || row.vector_space === null ? {} : { vectorSpace: row.vector_space }),
  }
}

/**
 * The same counted row by row, in slices. Rows may change meanwhile: `seq` is that of the beginning.
 */
export async function countedRows(db: Database, space: string): Promise<ExpectedCounts> {
  const expected = db.now(expectedCounts(space))
  const row = db.now(head(space))
  if (row === undefined) return expected
  const nodes = await inSlices(db, NODES, row.key)
  const vectors = row.vector_key === null ? 0 : await inSlices(db, VECTORS, row.vector_key)
  return { ...expected, nodes, vectors }
}

function* head(space: string): Read<Row | undefined> {
  return yield* sql.get<Row>(
    `SELECT spaces.key, (SELECT max(seq) FROM projection_log WHERE space_key = spaces.key) seq,
       (SELECT node_count FROM space_usage WHERE space_key = spaces.key) nodes, vector_spaces.id vector_space,
       vector_spaces.key vector_key, (SELECT live FROM vector_counts WHERE vector_space = vector_spaces.key) vectors
     FROM spaces LEFT JOIN vector_spaces ON vector_spaces.id = spaces.vector_space AND vector_spaces.state = 'active'
     WHERE spaces.id = ?`,
    [space],
  )
}

const NODES = `SELECT count(*) looked, max(key) last, total(live) live FROM
  (SELECT nodes.key, versions.until_revision IS NULL live
   FROM nodes INDEXED BY nodes_place CROSS JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
   WHERE nodes.space_key = ? AND nodes.key > ? ORDER BY nodes.key LIMIT ?)`

const VECTORS = `SELECT count(*) looked, max(key) last, total(live) live FROM
  (SELECT vectors.node_key key, versions.until_revision IS NULL live
   FROM vectors CROSS JOIN nodes ON nodes.key = vectors.node_key
     CROSS JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
   WHERE vectors.vector_space = ? AND vectors.node_key > ? ORDER BY vectors.node_key LIMIT ?)`

async function inSlices(db: Database, text: string, owner: number): Promise<number> {
  let live = 0
  let after = 0
  for (;;) {
    const slice = db.now(
      sql.get<{ looked: number; last: number | null; live: number }>(text, [owner, after, COUNTED_A_TURN]),
    )
    live += slice?.live ?? 0
    if (slice === undefined || slice.last === null || slice.looked < COUNTED_A_TURN) return live
    after = slice.last
    await turn()
  }
}
