import { seededRandom } from '../crash/random.js'

/** One operation as it was drawn: which one, and numbers in [0, 1) that choose its arguments among what there is. */
export interface Step {
  /** in the whole run, from 0 */
  number: number
  client: number
  kind: string
  picks: number[]
  /** sent as Idempotency-Key by operations that write */
  key: string | undefined
  /** asks again with the same key when no answer came */
  retries: boolean
  /** goes away so many milliseconds after it asked, and then asks again; only where there is a key */
  leavesAfterMs: number | undefined
}

export const FAULTS = ['kill', 'term', 'pause', 'kill-index', 'kill-reader', 'drop-indexes', 'full-disk'] as const
export type FaultKind = (typeof FAULTS)[number]

/** A fault as it was drawn. */
export interface PlannedFault {
  /** operations that have ended by then */
  after: number
  kind: FaultKind
  /** chooses how long, and how much */
  pick: number
}

export interface Schedule {
  seed: number
  /** tenant of each client, by place */
  clients: number[]
  steps: Step[][]
  faults: PlannedFault[]
}

export interface ScheduleOptions {
  seed: number
  operations: number
  /** names of operations with how often each is drawn */
  weights: Readonly<Record<string, number>>
  faults: readonly FaultKind[]
}

const PICKS = 8
/** operations between two faults, in the mean */
const FAULT_EVERY = 25
const MAX_PAUSE_MS = 40

/** Draws a whole run from its seed, before anything of it happens. */
export function drawSchedule({ seed, operations, weights, faults }: ScheduleOptions): Schedule {
  const random = seededRandom(seed)
  const count = 2 + Math.floor(random() * 3)
  // two tenants at least; the first has most clients
  const clients = Array.from({ length: count }, (_, place) => (place === 1 ? 1 : 0))
  const steps: Step[][] = clients.map(() => [])
  for (let number = 0; number < operations; number++) {
    const client = Math.floor(random() * count)
    const hasKey = random() < 0.6
    steps[client]?.push({
      number,
      client,
      kind: drawKind(weights, random()),
      picks: Array.from({ length: PICKS }, random),
      key: hasKey ? `seed-${seed}-${number}` : undefined,
      retries: random() < 0.6,
      leavesAfterMs: hasKey && random() < 0.05 ? Math.floor(random() * MAX_PAUSE_MS) : undefined,
    })
  }
  return { seed, clients, steps, faults: drawFaults(operations, faults, random) }
}

function drawKind(weights: Readonly<Record<string, number>>, pick: number): string {
  const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0)
  let left = pick * total
  for (const [kind, weight] of Object.entries(weights)) {
    left -= weight
    if (left < 0) return kind
  }
  throw new Error('there are no operations to draw from')
}

function drawFaults(operations: number, kinds: readonly FaultKind[], random: () => number): PlannedFault[] {
  const planned: PlannedFault[] = []
  if (kinds.length === 0) return planned
  let after = 0
  for (;;) {
    after += Math.ceil(FAULT_EVERY * (0.4 + random() * 1.2))
    if (after >= operations) return planned
    // half of all faults are kills: the others are drawn evenly
    const kind = random() < 0.4 && kinds.includes('kill') ? 'kill' : kinds[Math.floor(random() * kinds.length)]
    if (kind !== undefined) planned.push({ after, kind, pick: random() })
  }
}
