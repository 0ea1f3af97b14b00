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

/** Faults after which a daemon is started, which costs as much processor time as seventy operations. */
const RESTARTS = ['kill', 'term', 'drop-indexes'] as const
const DISTURBANCES = ['pause', 'kill-index', 'kill-reader', 'outage', 'clock', 'full-disk'] as const
export const FAULTS = [...RESTARTS, ...DISTURBANCES] as const
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
/** operations between two faults of a sort, in the mean */
const RESTART_EVERY = 80
const DISTURBANCE_EVERY = 40
/** of restarts; the others are drawn evenly */
const KILLS = 0.5
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

/** Restarts and disturbances, each sort at moments of its own. */
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
