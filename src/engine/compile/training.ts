import { newId } from '../../lib/ids.js'
import { untilWritten } from '../base/until-written.js'
import type { EngineContext } from '../context.js'
import { LSA_MAX_DOCUMENTS, LSA_MIN_DOCUMENTS } from '../models/builtin/lsa-corpus.js'
import { trainLsa } from '../models/builtin/lsa-trainer.js'
import { type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { embedTrained } from './embeddings.js'
import { addToIndex } from './vector-rows.js'
import { activeVectorSpace, insertVectors, isTrained, type VectorSpace } from './vector-spaces.js'

const READ_BATCH = 64
const WRITE_BATCH = 256
/**
 * Growth at which a model is trained anew once nothing is being compiled. Folding new text in costs at most .015 nDCG
 * (docs/retrieval.md), and training a few thousand nodes takes seconds; a large space waits for more.
 */
const GROWTH_WHEN_IDLE = 1.1
const GROWTH_WHEN_IDLE_AND_LARGE = 1.5
/** while documents are still coming, training waits for this growth: its cost then stays a fraction of the whole */
const GROWTH_WHEN_BUSY = 4

/** Whether a space should get a new model now. */
export function* trainingDue(context: EngineContext, space: SpaceRow, busy: boolean): Read<boolean> {
  if (!isTrained(space)) return false
  const nodes = yield* liveNodes(space.key)
  if (nodes < Math.max(LSA_MIN_DOCUMENTS, GROWTH_WHEN_IDLE * (unfitOf(context).get(space.key) ?? 0))) return false
  const active = yield* activeVectorSpace(space)
  if (active === undefined) return true
  const idle = active.trainedNodes < LSA_MAX_DOCUMENTS ? GROWTH_WHEN_IDLE : GROWTH_WHEN_IDLE_AND_LARGE
  return nodes >= Math.max(1, active.trainedNodes) * (busy ? GROWTH_WHEN_BUSY : idle)
}

/** Nodes of spaces, by their keys, whose texts no model could be made of: tried again when there are more. */
const unfit = new WeakMap<EngineContext, Map<number, number>>()

function unfitOf(context: EngineContext): Map<number, number> {
  const known = unfit.get(context) ?? new Map<number, number>()
  unfit.set(context, known)
  return known
}

/**
 * Trains a model on the space's live nodes and makes it the space's vector space: vectors of all nodes are written and
 * indexed under the new one first, then one transaction switches.
 */
export async function retrain(context: EngineContext, spaceKey: number, signal: AbortSignal): Promise<void> {
  const { db, indexes, log } = context
  const space = db.now(spaceByKey(spaceKey))
  if (space === undefined || !isTrained(space)) return
  const started = Date.now()
  const building = await trainVectorSpace(context, space, newId(), signal)
  if (building === undefined) return
  let switched: boolean
  try {
    // the model was just written, and is read at once
    await context.rightOfWay.giveWay()
    await fillVectors(context, space, building, signal)
    switched = await db.write(() => switchVectorSpace(spaceKey, building))
  } catch (error) {
    if (!signal.aborted) await giveUp(context, spaceKey, building, signal)
    throw error
  }
  if (!switched) {
    await forgetSuperseded(context, spaceKey)
    return
  }
  await indexes.activateVectors(space.id, building.id)
  // nodes that were embedded with the old model while this one was being filled
  await fillVectors(context, space, building, signal)
  await untilWritten(context, 'the end of a training', signal, () => forgetSuperseded(context, spaceKey))
  const { dimension, trainedNodes } = building
  log.info({ space: space.id, nodes: trainedNodes, dimension, ms: Date.now() - started }, 'embedding model trained')
}

/** Removes a model that could not be finished, at the latest when the disk has room for that. */
async function giveUp(
  context: EngineContext,
  spaceKey: number,
  { key }: VectorSpace,
  signal: AbortSignal,
): Promise<void> {
  const { db } = context
  await untilWritten(context, 'the end of a training', signal, async () => {
    await db.write(() =>
      sql.run("UPDATE vector_spaces SET state = 'superseded' WHERE key = ? AND state = 'building'", [key]),
    )
    await forgetSuperseded(context, spaceKey)
  })
}

/** Trains a model on the space's live nodes, as a vector space that nobody uses yet. @returns nothing where they do not do */
export async function trainVectorSpace(
  context: EngineContext,
  space: SpaceRow,
  id: string,
  signal: AbortSignal,
): Promise<VectorSpace | undefined> {
  const { db, log } = context
  const nodes = context.db.now(liveNodes(space.key))
  const model = await trainLsa(sampleTexts(context, space.key, nodes), signal)
  if (model === undefined) {
    unfitOf(context).set(space.key, nodes)
    log.info({ space: space.id, nodes }, 'the texts hold too few different words for an embedding model')
    return undefined
  }
  unfitOf(context).delete(space.key)
  const { dimension, bytes } = model
  return db.write<VectorSpace>(function* () {
    const key = (yield* sql.run(
      `INSERT INTO vector_spaces (id, space_key, revision, dimension, trained_nodes, model, state, created_at)
       VALUES (?, ?, ?, ?, ?, ?, 'building', ?)`,
      [id, space.key, space.embedding_revision + 1, dimension, nodes, bytes, Date.now()],
    )).key
    return { key, id, dimension, trainedNodes: nodes }
  })
}

/**
 * Gives a vector to every live node that has none in the vector space, in the rows and in the index.
 *
 * @param from key of the node behind which to begin
 * @returns key of the last node that was looked at
 */
export async function fillVectors(
  context: EngineContext,
  space: SpaceRow,
  vectorSpace: VectorSpace,
  signal: AbortSignal,
  from = 0,
): Promise<number> {
  const { db } = context
  let after = from
  for (;;) {
    signal.throwIfAborted()
    const slice = db.now(
      sql.get<{ last: number | null }>(
        `SELECT max(key) last FROM
         (SELECT key FROM nodes INDEXED BY nodes_place WHERE space_key = ? AND key > ? ORDER BY key LIMIT ?)`,
        [space.key, after, WRITE_BATCH],
      ),
    )
    const last = slice?.last ?? null
    if (last === null) return after
    const rows = db.now(
      sql.all<{ key: number; doc_key: number; title: string; text: string }>(
        `SELECT nodes.key, nodes.doc_key, nodes.title, nodes.text
       FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       LEFT JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
       WHERE nodes.space_key = ? AND nodes.key > ? AND nodes.key <= ? AND versions.until_revision IS NULL
         AND vectors.node_key IS NULL
       ORDER BY nodes.key`,
        [vectorSpace.key, space.key, after, last],
      ),
    )
    after = last
    if (rows.length === 0) {
      await context.rightOfWay.giveWay()
      continue
    }
    const vectors = await embedTrained(
      context,
      vectorSpace,
      rows.map((row) => `${row.title}\n${row.text}`),
    )
    const known = rows.flatMap((row, index) => {
      const vector = vectors[index]
      return vector === undefined ? [] : [{ nodeKey: row.key, doc: row.doc_key, vector }]
    })
    if (known.length === 0) continue
    const isWanted = await db.write(function* () {
      // another model may have taken its place meanwhile, and its vectors are being removed
      const row = yield* sql.get<{ state: string }>('SELECT state FROM vector_spaces WHERE key = ?', [vectorSpace.key])
      if (row === undefined || row.state === 'superseded') return false
      yield* insertVectors(vectorSpace.key, known)
      return true
    })
    if (!isWanted) return after
    await addToIndex(context, space, vectorSpace, known)
  }
}

/**
 * Models that a crash left half built are of no use; what a migration fills, it goes on filling. Their vectors go like
 * those of other models that nobody uses: in slices, behind the start.
 */
export function* giveUpUnfinished(): Write<void> {
  yield* sql.run(
    `UPDATE vector_spaces SET state = 'superseded' WHERE state = 'building'
       AND id NOT IN (SELECT vector_space FROM embedding_migrations WHERE completed_at IS NULL)`,
  )
}

function* switchVectorSpace(spaceKey: number, next: VectorSpace): Write<boolean> {
  const space = yield* spaceByKey(spaceKey)
  if (space === undefined) return false
  if (!isTrained(space)) {
    // a migration gave the space another model meanwhile
    yield* sql.run("UPDATE vector_spaces SET state = 'superseded' WHERE key = ?", [next.key])
    return false
  }
  yield* sql.run("UPDATE vector_spaces SET state = 'superseded' WHERE space_key = ? AND state = 'active'", [spaceKey])
  yield* sql.run("UPDATE vector_spaces SET state = 'active' WHERE key = ? AND state = 'building'", [next.key])
  yield* sql.run(
    'UPDATE spaces SET vector_space = ?, dimension = ?, embedding_revision = embedding_revision + 1 WHERE key = ?',
    [next.id, next.dimension, spaceKey],
  )
  return true
}

/** Removes the vectors of models that no query uses any more, a slice at a time. @param stop ends it between two slices */
export async function forgetSuperseded(context: EngineContext, spaceKey: number, stop?: AbortSignal): Promise<void> {
  const { db } = context
  const old = db.now(
    sql.all<{ key: number; id: string }>(
      "SELECT key, id FROM vector_spaces WHERE space_key = ? AND state = 'superseded'",
      [spaceKey],
    ),
  )
  for (const { key, id } of old) {
    for (;;) {
      if (stop?.aborted === true) return
      const gone = await db.write(function* () {
        return (yield* sql.run(
          `DELETE FROM vectors WHERE vector_space = ? AND node_key IN
               (SELECT node_key FROM vectors WHERE vector_space = ? ORDER BY node_key LIMIT ?)`,
          [key, key, 2000],
        )).changes
      })
      if (gone === 0) break
    }
    await db.write(() => sql.run('DELETE FROM vector_spaces WHERE key = ?', [key]))
    context.lsa.unload(id)
  }
}

function* liveNodes(spaceKey: number): Read<number> {
  return (
    (yield* sql.get<{ n: number | null }>(
      'SELECT sum(node_count) n FROM versions WHERE space_key = ? AND from_revision IS NOT NULL AND until_revision IS NULL',
      [spaceKey],
    ))?.n ?? 0
  )
}

/** Node texts in key order; of a large space every n-th, so that the sample covers all of it. */
async function* sampleTexts(context: EngineContext, spaceKey: number, nodes: number): AsyncIterable<string[]> {
  const stride = Math.max(1, Math.ceil(nodes / LSA_MAX_DOCUMENTS))
  let after = 0
  let place = 0
  for (;;) {
    const rows = context.db.now(
      sql.all<{ key: number; title: string; text: string }>(
        `SELECT nodes.key, nodes.title, nodes.text FROM nodes INDEXED BY nodes_place JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
       WHERE nodes.key > ? AND nodes.space_key = ? AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL
       ORDER BY nodes.key LIMIT ?`,
        [after, spaceKey, READ_BATCH],
      ),
    )
    if (rows.length === 0) return
    after = rows.at(-1)?.key ?? after
    const texts: string[] = []
    for (const row of rows) if (place++ % stride === 0) texts.push(`${row.title}\n${row.text}`)
    if (texts.length > 0) yield texts
    await context.rightOfWay.giveWay()
  }
}
