import type { EngineContext } from '../../library/index.js'
import type { PassageVector, VectorSpace } from '../../store/rows/vector-spaces.js'

/** Adds vectors that are stored in rows to the index. */
export async function addToIndex(
  { indexes }: EngineContext,
  space: { id: string },
  vectorSpace: Pick<VectorSpace, 'id' | 'dimension'>,
  rows: readonly PassageVector[],
): Promise<void> {
  const block = new Float32Array(rows.length * vectorSpace.dimension)
  rows.forEach(({ vector }, index) => {
    block.set(vector, index * vectorSpace.dimension)
  })
  await indexes.addVectors(space.id, {
    vectorSpace: vectorSpace.id,
    dimension: vectorSpace.dimension,
    keys: rows.map((row) => row.nodeKey),
    docs: rows.map((row) => row.doc),
    vectors: block,
  })
}
