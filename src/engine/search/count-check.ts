import { setTimeout as sleep } from 'node:timers/promises'
import type { ExpectedCounts, ReplaySource } from './ports.js'
import type { CountReply } from './protocol.js'

/** Attempts until two readings in a row agree; changes in transit take some milliseconds. */
const LOOKS = 10
const LOOK_MS = 150

export type Leg = 'text' | 'vectors'

/** Known permanent difference between counters and indexes, for example damaged rows that no index accepts. */
export interface Drift {
  nodes: number
  vectors: number
}

export interface CountCheck {
  source: ReplaySource
  space: string
  legs: readonly Leg[]
  /** found by earlier checks; updated by this one */
  drift: Drift
  /** counts of the indexes after all earlier requests were processed */
  inIndex: (vectorSpace: string) => Promise<CountReply>
  /** no rows are read after it fires */
  signal?: AbortSignal | undefined
}

/** `moving`: rows or indexes changed at every attempt, so they could not be compared. */
export type Comparison = { state: 'equal' } | { state: 'moving' } | { state: 'different'; sentence: string }

/**
 * Compares the indexes of a space with its rows. Counters are compared first, at no cost. Where they disagree and
 * nothing changes, every row is counted, and that number decides.
 */
export async function compareCounts(check: CountCheck): Promise<Comparison> {
  const { source, space, drift } = check
  let before: Look | undefined
  for (let i = 0; i < LOOKS; i++) {
    if (i > 0) await sleep(LOOK_MS, undefined, { ref: false, signal: check.signal })
    const seen = await look(check)
    if (differing(check.legs, seen.here, seen.rows, drift).length === 0) return { state: 'equal' }
    const isStill = before !== undefined && isSame(before, seen)
    before = seen
    if (!isStill) continue
    const counted = await source.counted(space)
    if (!isSame(seen, await look(check))) continue
    const sentences = differing(check.legs, seen.here, counted, { nodes: 0, vectors: 0 })
    if (sentences.length > 0) return { state: 'different', sentence: sentences.join(', ') }
    if (check.legs.includes('text')) drift.nodes = seen.rows.nodes - counted.nodes
    if (check.legs.includes('vectors')) drift.vectors = seen.rows.vectors - counted.vectors
    return { state: 'equal' }
  }
  return { state: 'moving' }
}

interface Look {
  here: CountReply
  rows: ExpectedCounts
}

async function look({ source, space, inIndex, signal }: CountCheck): Promise<Look> {
  signal?.throwIfAborted()
  const here = await inIndex((await source.expected(space)).vectorSpace ?? '')
  signal?.throwIfAborted()
  return { here, rows: await source.expected(space) }
}

function isSame(a: Look, b: Look): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function differing(legs: readonly Leg[], here: CountReply, rows: ExpectedCounts, drift: Drift): string[] {
  const found: string[] = []
  const nodes = rows.nodes - drift.nodes
  const vectors = rows.vectors - drift.vectors
  if (legs.includes('text') && here.textCount !== nodes) found.push(textDiffers(here.textCount, nodes))
  if (legs.includes('vectors') && here.vectorCount !== vectors)
    found.push(`the vector index holds ${here.vectorCount} vectors, the rows ${vectors}`)
  return found
}

/** Formats the difference between the text index and the rows. */
export function textDiffers(here: number, rows: number): string {
  return `the text index holds ${here} passages, the rows ${rows}`
}
