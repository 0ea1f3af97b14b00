import { setTimeout as sleep } from 'node:timers/promises'
import type { ExpectedCounts, ReplaySource } from './ports.js'
import type { CountReply } from './protocol.js'

/** Attempts until two readings in a row agree; changes in transit take some milliseconds. */
const MAX_ATTEMPTS = 10
const ATTEMPT_INTERVAL_MS = 150

export type SearchLeg = 'text' | 'vectors'

/** Known permanent difference between counters and indexes, for example damaged rows that no index accepts. */
export interface CountDrift {
  nodes: number
  vectors: number
}

export interface CountCheck {
  source: ReplaySource
  space: string
  legs: readonly SearchLeg[]
  /** found by earlier checks; updated by this one */
  drift: CountDrift
  /** counts of the indexes after all earlier requests were processed */
  countIndex: (vectorSpace: string) => Promise<CountReply>
  /** no rows are read after it fires */
  signal?: AbortSignal | undefined
}

/** `moving`: rows or indexes changed at every attempt, so they could not be compared. */
export type CountComparison = { state: 'equal' } | { state: 'moving' } | { state: 'different'; sentence: string }

/**
 * Compares the indexes of a space with its rows. Counters are compared first, at no cost. Where they disagree and
 * nothing changes, every row is counted, and that number decides.
 */
export async function compareCounts(check: CountCheck): Promise<CountComparison> {
  const { source, space, drift } = check
  let previous: CountReading | undefined
  for (let i = 0; i < MAX_ATTEMPTS; i++) {
    if (i > 0) await sleep(ATTEMPT_INTERVAL_MS, undefined, { ref: false, signal: check.signal })
    const reading = await readCounts(check)
    if (describeDifferences(check.legs, reading.index, reading.rows, drift).length === 0) return { state: 'equal' }
    const isStable = previous !== undefined && areEqual(previous, reading)
    previous = reading
    if (!isStable) continue
    const counted = await source.countRows(space)
    if (!areEqual(reading, await readCounts(check))) continue
    const sentences = describeDifferences(check.legs, reading.index, counted, { nodes: 0, vectors: 0 })
    if (sentences.length > 0) return { state: 'different', sentence: sentences.join(', ') }
    if (check.legs.includes('text')) drift.nodes = reading.rows.nodes - counted.nodes
    if (check.legs.includes('vectors')) drift.vectors = reading.rows.vectors - counted.vectors
    return { state: 'equal' }
  }
  return { state: 'moving' }
}

interface CountReading {
  index: CountReply
  rows: ExpectedCounts
}

async function readCounts({ source, space, countIndex, signal }: CountCheck): Promise<CountReading> {
  signal?.throwIfAborted()
  const index = await countIndex((await source.expectedCounts(space)).vectorSpace ?? '')
  signal?.throwIfAborted()
  return { index, rows: await source.expectedCounts(space) }
}

function areEqual(a: CountReading, b: CountReading): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function describeDifferences(
  legs: readonly SearchLeg[],
  index: CountReply,
  rows: ExpectedCounts,
  drift: CountDrift,
): string[] {
  const sentences: string[] = []
  const nodes = rows.nodes - drift.nodes
  const vectors = rows.vectors - drift.vectors
  if (legs.includes('text') && index.textCount !== nodes) sentences.push(describeTextGap(index.textCount, nodes))
  if (legs.includes('vectors') && index.vectorCount !== vectors)
    sentences.push(`the vector index holds ${index.vectorCount} vectors, the rows ${vectors}`)
  return sentences
}

/** Formats the difference between the text index and the rows. */
export function describeTextGap(indexed: number, rows: number): string {
  return `the text index holds ${indexed} passages, the rows ${rows}`
}
