import { setImmediate as turn } from 'node:timers/promises'
import type { KnowledgeSpaceStatus, ProjectionSummary } from '../../../contract/gateway/space-status.js'
import { isTrainingDue } from '../../ingest/index.js'
import { countUnread } from '../../knowledge/index.js'
import { type EngineContext, isTrained } from '../../library/index.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import {
  countFailedDocuments,
  countSpaceNodes,
  countVectorsOfVersions,
  findActiveVectorSpace,
  getGraphSize,
  getLiveVectorCount,
  isSpaceBuilding,
  listBuildingVersions,
} from '../../store/rows/projections.js'
import type { SpaceRow } from '../../store/rows/spaces.js'
import { countDueVectors } from '../../store/rows/vectors-due.js'

/** number of versions whose vectors are counted before other work runs */
const VERSIONS_PER_SLICE = 100

/**
 * The state of a space's projections, from rows. Each node of a current version has a projection in the text index, in
 * the vector index and, as its own row, in the metadata. Superseded versions have no projection.
 */
export async function getProjectionSummaries(
  context: EngineContext,
  space: SpaceRow,
): Promise<KnowledgeSpaceStatus['index']['summaries']> {
  const { db } = context
  const { nodes, failed, refused, isComplete } = await db.read(loadCounts(context, space))
  const vectors = Math.min(await countReadyVectors(db, space), nodes.ready)
  const total = nodes.ready + nodes.building
  const text: ProjectionSummary = { total: total + failed, ...nodes, stale: 0, failed }
  return {
    denseVector: isComplete
      ? { total: vectors, ready: vectors, building: 0, stale: 0, failed: 0 }
      : { total, ready: vectors, building: Math.max(0, total - vectors - refused), stale: 0, failed: refused },
    fts: text,
    graph: await getGraphSummary(db, space.key),
    metadata: { total, ...nodes, stale: 0, failed: 0 },
  }
}

function* loadCounts(context: EngineContext, space: SpaceRow) {
  return {
    nodes: yield* countSpaceNodes(space.key),
    // each counts as one failed projection
    failed: yield* countFailedDocuments(space.key),
    refused: (yield* countDueVectors(space.key)).refused,
    isComplete: yield* areVectorsComplete(context, space),
  }
}

/**
 * Whether a space's trained model has computed all vectors that it can. Then nodes without one do not count as pending:
 * they contain no term that the model knows, or the space is too small for a model.
 */
function* areVectorsComplete(context: EngineContext, space: SpaceRow): Read<boolean> {
  if (!isTrained(space) || (yield* isTrainingDue(context, space, false))) return false
  return !(yield* isSpaceBuilding(space.key))
}

/** Number of vectors of the active model whose nodes are published and current. */
async function countReadyVectors(db: Driver, space: SpaceRow): Promise<number> {
  const vectorSpace = await db.read(findActiveVectorSpace(space.vector_space))
  if (vectorSpace === undefined) return 0
  // few versions are being built: their vectors are looked up one by one
  const versions = await db.read(listBuildingVersions(space.key))
  let buildingCount = 0
  for (let start = 0; start < versions.length; start += VERSIONS_PER_SLICE) {
    buildingCount += await db.read(
      countVectorsOfVersions(vectorSpace, versions.slice(start, start + VERSIONS_PER_SLICE)),
    )
    await turn()
  }
  return (await db.read(getLiveVectorCount(vectorSpace))) - buildingCount
}

/**
 * Entities and relations are ready when they are found. Once the graph was requested, each document that was not
 * extracted yet counts as one building projection: its content is unknown.
 */
async function getGraphSummary(db: Driver, spaceKey: number): Promise<ProjectionSummary> {
  const { size: ready, isBegun } = await db.read(getGraphSize(spaceKey))
  const building = isBegun ? await countUnread(db, spaceKey) : 0
  return { total: ready + building, ready, building, stale: 0, failed: 0 }
}
