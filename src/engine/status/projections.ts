import { setImmediate as turn } from 'node:timers/promises'
import type { KnowledgeSpaceStatus, ProjectionSummary } from '../../contract/gateway/space-status.js'
import { trainingDue } from '../compile/training.js'
import { isTrained } from '../compile/vector-spaces.js'
import type { EngineContext } from '../context.js'
import { countUnread } from '../derived/derivation.js'
import type { SpaceRow } from '../rows/spaces.js'
import { missingOf } from '../rows/vectors-due.js'
import type { Database } from '../storage/database.js'
import { type Read, sql } from '../storage/program.js'

/** vectors counted before others get a turn: each has its own 400 bytes in the pages that are read */
const COUNTED_A_TURN = 20_000

interface Nodes {
  ready: number
  building: number
}

/**
 * The state of a space's projections, by rows. Each node of a current version is projected into the text index, into
 * the vector index and, as its own row, into the metadata. Superseded versions are in no projection.
 */
export async function projectionSummaries(
  context: EngineContext,
  space: SpaceRow,
): Promise<KnowledgeSpaceStatus['index']['summaries']> {
  const { db } = context
  const nodes = db.now(nodesOf(space.key))
  const failed = db.now(failedDocuments(space.key))
  const { refused } = db.now(missingOf(space.key))
  const vectors = Math.min(await readyVectors(db, space), nodes.ready)
  const total = nodes.ready + nodes.building
  const text: ProjectionSummary = { total: total + failed, ...nodes, stale: 0, failed }
  return {
    denseVector: context.db.now(vectorsComplete(context, space))
      ? { total: vectors, ready: vectors, building: 0, stale: 0, failed: 0 }
      : { total, ready: vectors, building: Math.max(0, total - vectors - refused), stale: 0, failed: refused },
    fts: text,
    graph: await graphSummary(db, space.key),
    metadata: { total, ...nodes, stale: 0, failed: 0 },
  }
}

/**
 * Whether a space's own model has given vectors to all nodes that it can. Then those without one, which hold no word
 * that the model knows, and those of a space too small for a model, are no projections that anybody waits for.
 */
function* vectorsComplete(context: EngineContext, space: SpaceRow): Read<boolean> {
  if (!isTrained(space) || (yield* trainingDue(context, space, false))) return false
  const row = yield* sql.get<{ busy: number }>(
    `SELECT EXISTS (SELECT 1 FROM jobs WHERE space_key = ? AND completed_at IS NULL)
       OR EXISTS (SELECT 1 FROM vector_spaces WHERE space_key = ? AND state = 'building') busy`,
    [space.key, space.key],
  )
  return row?.busy === 0
}

/** Nodes of versions that are published, and of those on their way there. */
function* nodesOf(spaceKey: number): Read<Nodes> {
  const row = yield* sql.get<{ ready: number | null; building: number | null }>(
    `SELECT sum(CASE WHEN from_revision IS NOT NULL THEN node_count ELSE 0 END) ready,
            sum(CASE WHEN from_revision IS NULL THEN node_count ELSE 0 END) building
     FROM versions WHERE space_key = ? AND until_revision IS NULL`,
    [spaceKey],
  )
  return { ready: row?.ready ?? 0, building: row?.building ?? 0 }
}

/** Documents without any version; each counts as one projection that could not be made. */
function* failedDocuments(spaceKey: number): Read<number> {
  return (
    (yield* sql.get<{ n: number }>(
      "SELECT count(*) n FROM documents WHERE space_key = ? AND parser_status = 'failed' AND deleted_at IS NULL",
      [spaceKey],
    ))?.n ?? 0
  )
}

/** Vectors of the active model whose nodes are published and current. */
async function readyVectors(db: Database, space: SpaceRow): Promise<number> {
  const model = db.now(
    sql.get<{ key: number }>("SELECT key FROM vector_spaces WHERE id = ? AND state = 'active'", [space.vector_space]),
  )
  if (model === undefined) return 0
  let all = 0
  let after = 0
  for (;;) {
    const slice = db.now(
      sql.get<{ n: number; last: number | null }>(
        `SELECT count(*) n, max(node_key) last FROM
         (SELECT node_key FROM vectors WHERE vector_space = ? AND node_key > ? ORDER BY node_key LIMIT ?)`,
        [model.key, after, COUNTED_A_TURN],
      ),
    )
    all += slice?.n ?? 0
    if (slice?.last === null || slice === undefined || slice.n < COUNTED_A_TURN) break
    after = slice.last
    await turn()
  }
  return all - (await otherVectors(db, space.key, model.key))
}

/** Vectors of nodes that are not published, or not any more: there are few, so these are looked up one by one. */
async function otherVectors(db: Database, spaceKey: number, model: number): Promise<number> {
  let found = 0
  const versions = db.now(
    sql.all<{ key: number }>(
      `SELECT key FROM versions INDEXED BY versions_inactive
       WHERE space_key = ? AND until_revision IS NOT NULL AND first_node IS NOT NULL
     UNION ALL SELECT key FROM versions WHERE space_key = ? AND until_revision IS NULL AND from_revision IS NULL`,
      [spaceKey, spaceKey],
    ),
  )
  for (const [place, { key }] of versions.entries()) {
    found +=
      db.now(
        sql.get<{ n: number }>(
          `SELECT count(*) n FROM nodes CROSS JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
         WHERE nodes.version_key = ?`,
          [model, key],
        ),
      )?.n ?? 0
    if (place % 100 === 99) await turn()
  }
  return found
}

/**
 * Entities and relations stand in their tables when they are found. Once somebody has asked for the graph, each document
 * that was not read for it yet counts as one that is being built: what it holds is not known.
 */
async function graphSummary(db: Database, spaceKey: number): Promise<ProjectionSummary> {
  const row = db.now(
    sql.get<{ n: number }>(
      `SELECT (SELECT count(*) FROM graph_entities WHERE space_key = ?)
          + (SELECT count(*) FROM graph_relations WHERE space_key = ?) n`,
      [spaceKey, spaceKey],
    ),
  )
  const ready = row?.n ?? 0
  const begun =
    db.now(sql.get('SELECT 1 one FROM graph_versions WHERE space_key = ? LIMIT 1', [spaceKey])) !== undefined
  const building = begun ? await countUnread(db, spaceKey) : 0
  return { total: ready + building, ready, building, stale: 0, failed: 0 }
}
