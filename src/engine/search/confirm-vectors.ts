import type { IndexProcess } from './index-process.js'
import type { ReplaySource } from './ports.js'
import type { ConfirmReply, LoadReply } from './protocol.js'

/** A load that was begun, and how many vectors a file brought. */
export interface Begun {
  dimension: number
  filled: Promise<number>
}

export function begunBy(dimension: number, { answer }: { answer: Promise<unknown> }): Begun {
  // the answer of a request is what its reply says
  const filled = answer.then((reply) => (reply as LoadReply).filled)
  filled.catch(() => {})
  return { dimension, filled }
}

/** Which vectors came with a file, and to which process. */
interface Filled {
  space: string
  vectorSpace: string
  dimension: number
  generation: number
}

/**
 * Tells the index which vectors the source has, by their checksums: those that came with a file and are the same are taken
 * from there.
 *
 * @returns keys of the others, which have to be sent
 */
export async function confirmVectors(
  process: IndexProcess,
  source: ReplaySource,
  { generation, ...of }: Filled,
): Promise<number[]> {
  const lacking: number[] = []
  let before: Promise<ConfirmReply> | undefined
  const take = async (): Promise<void> => {
    for (const key of (await before)?.lacking ?? []) lacking.push(key)
  }
  for await (const { keys, docs, sums } of source.sums(of.space, of.vectorSpace)) {
    const answer = process.ask({ op: 'confirm', ...of, keys, docs, sums }, generation)
    // it is looked at when the next one is on its way
    answer.catch(() => {})
    await take()
    before = answer
  }
  await take()
  return lacking
}
