import { seededRandom } from '../crash/random.js'

/** One drawn operation: its name, and numbers in [0, 1) that choose its arguments among existing objects. */
export interface Step {
  /** index in the complete run, from 0 */
  number: number
  client: number
  kind: string
  picks: number[]
  /** Idempotency-Key of a write */
  key: string | undefined
  /** repeats the request with the same key if no response arrived */
  retries: boolean
  /** disconnects this many milliseconds after the request, then repeats it; only with a key */
  leavesAfterMs: number | undefined
}

/** Faults that restart a daemon, which costs as much processor time as seventy operations. */
const RESTARTS = ['kill', 'term', 'drop-indexes'] as const
const DISTURBANCES = ['pause', 'kill-index', 'kill-reader', 'outage', 'clock', 'full-disk'] as const
export const FAULTS = [...RESTARTS, ...DISTURBANCES] as const
export type FaultKind = (typeof FAULTS)[number]

/** One drawn fault. */
export interface PlannedFault {
  /** number of operations that have ended before it */
  after: number
  kind: FaultKind
  /** chooses duration and amount */
  pick: number
}

export interface Schedule {
  seed: number
  /** index of the tenant of each client */
  clients: number[]
  steps: Step[][]
  faults: PlannedFault[]
}

export interface ScheduleOptions {
  seed: number
  operations: number
  /** weights of operations by name */
  weights: Readonly<Record<string, number>>
  faults: readonly FaultKind[]
}

const PICKS = 8
/** mean number of operations between two faults of a kind */
const RESTART_EVERY = 80
const DISTURBANCE_EVERY = 40
/** weights of restarts; other faults have equal weights */
const KILLS = 0.5
const MAX_PAUSE_MS = 40

/** Draws a complete run from its seed, before it starts. */
export function drawSchedule({ seed, operations, weights, faults }: ScheduleOptions): Schedule {
  const random = seededRandom(seed)
  const count = 2 + Math.floor(random() * 3)
  // At least two tenants; the first has most clients.
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

/** Restarts and disturbances, each kind at separate moments. */
function drawFaults(operations: number, kinds: readonly FaultKind[], random: () => number): PlannedFault[] {
  const draw = (sort: readonly FaultKind[], every: number, favourite?: FaultKind): PlannedFault[] => {
    const among = sort.filter((kind) => kinds.includes(kind))
    const planned: PlannedFault[] = []
    for (let after = 0; among.length > 0; ) {
      after += Math.ceil(every * (0.4 + random() * 1.2))
      if (after >= operations) break
      const kind = random() < KILLS ? favourite : undefined
      const drawn = among[Math.floor(random() * among.length)]
      const chosen = kind !== undefined && among.includes(kind) ? kind : drawn
      if (chosen !== undefined) planned.push({ after, kind: chosen, pick: random() })
    }
    return planned
  }
  return [...draw(RESTARTS, RESTART_EVERY, 'kill'), ...draw(DISTURBANCES, DISTURBANCE_EVERY)].sort(
    (a, b) => a.after - b.after,
  )
}
