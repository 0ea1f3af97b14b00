import { setTimeout as sleep } from 'node:timers/promises'
import type { ExpectedCounts, ReplaySource } from './ports.js'
import type { CountReply } from './protocol.js'

/** Looks until two of them in a row must be alike; changes on their way take some milliseconds. */
const LOOKS = 10
const LOOK_MS = 150

export type Leg = 'text' | 'vectors'

/** What is known to stand between counters and indexes for good, such as a damaged row that no index can take. */
export interface Drift {
  nodes: number
  vectors: number
}

export interface CountCheck {
  source: ReplaySource
  space: string
  legs: readonly Leg[]
  /** found by an earlier check, and brought up to date by this one */
  drift: Drift
  /** what the indexes hold once all that was sent is done */
  inIndex: (vectorSpace: string) => Promise<CountReply>
  /** nothing is read any more once it has fired */
  signal?: AbortSignal | undefined
}

/** `moving`: rows or indexes changed at every look, so that they could not be compared. */
export type Comparison = { state: 'equal' } | { state: 'moving' } | { state: 'different'; sentence: string }

/**
 * Compares what the indexes of a space hold with its rows. The counters cost nothing; only where they disagree with an
 * index, and both stand still, every row is counted, and that decides.
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

/** The sentence for a text index that does not hold what the rows do. */
export function textDiffers(here: number, rows: number): string {
  return `the text index holds ${here} passages, the rows ${rows}`
}
