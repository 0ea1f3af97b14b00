import type { IndexProcess } from './index-process.js'
import type { ReplaySource } from './ports.js'
import type { ConfirmReply, LoadReply } from './protocol.js'

/** A vector load that has begun, and the number of vectors that its graph file contained. */
export interface StartedVectorLoad {
  dimension: number
  filled: Promise<number>
}

export function toStartedLoad(dimension: number, { answer }: { answer: Promise<unknown> }): StartedVectorLoad {
  // the answer of a load request is a LoadReply
  const filled = answer.then((reply) => (reply as LoadReply).filled)
  filled.catch(() => {})
  return { dimension, filled }
}

/** The vectors that were read from a graph file, and the process that has them. */
interface FilledVectors {
  space: string
  vectorSpace: string
  dimension: number
  generation: number
}

/**
 * Sends the checksums of the source's vectors to the index, which keeps the vectors of its graph file that are equal.
 *
 * @returns keys of the other vectors, which have to be sent
 */
export async function confirmVectors(
  process: IndexProcess,
  source: ReplaySource,
  { generation, ...target }: FilledVectors,
): Promise<number[]> {
  const missing: number[] = []
  let previous: Promise<ConfirmReply> | undefined
  const collectPrevious = async (): Promise<void> => {
    for (const key of (await previous)?.missing ?? []) missing.push(key)
  }
  for await (const { keys, docs, sums } of source.vectorSums(target.space, target.vectorSpace)) {
    const answer = process.request({ op: 'confirm', ...target, keys, docs, sums }, generation)
    // awaited after the next request is on its way; a rejection before that must not count as unhandled
    answer.catch(() => {})
    await collectPrevious()
    previous = answer
  }
  await collectPrevious()
  return missing
}
