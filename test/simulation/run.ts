import { CrawledSite } from './crawled-site.js'
import { doFault } from './faults.js'
import { OPERATIONS, WEIGHTS } from './operations/all.js'
import type { Context } from './operations/context.js'
import { verifySite } from './operations/site.js'
import { makeSpace } from './operations/spaces.js'
import { drawSchedule, type FaultKind, type PlannedFault, type Schedule, type Step } from './schedule.js'
import { Session } from './session.js'
import { verifyChat, verifyTenant } from './verify.js'
import { type Divergence, EMBEDDING, type FullDisk, type MovedClock, World } from './world.js'

export interface SimulationOptions {
  seed: number
  operations: number
  /** data directory of the daemon; the caller creates and keeps it */
  dataDir: string
  faults: readonly FaultKind[]
  disk?: FullDisk | undefined
  clock?: MovedClock | undefined
  /** for tests of the simulation: runs after all operations, before the comparison */
  tamper?: (world: World) => Promise<void>
}

export interface Simulated {
  seed: number
  divergences: Divergence[]
  faults: number
  /** number of responses of each operation */
  answered: Map<string, number>
}

/** by tenant: the model of each permanent space; the built-in one if undefined */
const KEPT_SPACES = [[undefined, EMBEDDING], [undefined]]

/** Runs one seed against a separate daemon and compares the final state with the acknowledgements. */
export async function simulate(options: SimulationOptions): Promise<Simulated> {
  const { seed, operations, faults } = options
  const schedule = drawSchedule({ seed, operations, weights: WEIGHTS, faults })
  const world = new World(options.dataDir, options.disk, options.clock)
  try {
    await world.open()
    const sessions = schedule.clients.map((tenant, place) => new Session(world, place, tenant))
    await makeKeptSpaces(sessions, schedule)
    const [first] = sessions
    if (first !== undefined) await openSite(first)
    await work(world, sessions, schedule)
    await options.tamper?.(world)
    for (const session of firstOfEach(sessions)) {
      await verifyTenant({ session, schedule, step: stepOf('end', operations) })
      await verifySite({ session, schedule, step: stepOf('end', operations) })
    }
    for (const session of sessions) await verifyChat({ session, schedule, step: stepOf('end', operations) })
  } catch (error) {
    world.diverge(
      'run',
      'a run that comes to its end',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    )
  } finally {
    await world.close()
  }
  return { seed, divergences: world.divergences, faults: schedule.faults.length, answered: world.answered }
}

function firstOfEach(sessions: Session[]): Session[] {
  return sessions.filter((session, place) => sessions.findIndex(({ tenant }) => tenant === session.tenant) === place)
}

async function makeKeptSpaces(sessions: Session[], schedule: Schedule): Promise<void> {
  for (const [place, session] of firstOfEach(sessions).entries())
    for (const [number, model] of (KEPT_SPACES[place] ?? []).entries()) {
      const step = stepOf('start', -1 - number)
      await makeSpace({ session, schedule, step }, `kept-${number}`, true, model)
    }
}

/** A site that is crawled into a separate space outside of the model. */
async function openSite(session: Session): Promise<void> {
  const { world, tenant } = session
  const step = stepOf('start', -9)
  const site = await CrawledSite.open(tenant.marker, async (uri) => {
    const body = { name: `${tenant.marker} site`, slug: 'site' }
    const space = await session.write(step, 'POST /knowledge-spaces', { body })
    if (space.kind !== 'done') throw new Error(`no space for the site: ${JSON.stringify(space)}`)
    const source = await session.write(step, 'POST /knowledge-spaces/{id}/sources', {
      path: { id: space.value.id },
      body: { name: 'site', type: 'web', uri, permissionScope: [] },
    })
    if (source.kind !== 'done') throw new Error(`no source for the site: ${JSON.stringify(source)}`)
    return { spaceId: space.value.id, sourceId: source.value.id }
  })
  world.sites.set(tenant, site)
}

/** A step outside of the schedule: before the first and after the last. */
function stepOf(kind: string, number: number): Step {
  return { number, client: 0, kind, picks: [0], key: undefined, retries: true, leavesAfterMs: undefined }
}

/** Runs all clients concurrently, each with its steps in order, and the faults between them. */
async function work(world: World, sessions: Session[], schedule: Schedule): Promise<void> {
  const waiting = [...schedule.faults]
  let ended = 0
  let fault: Promise<void> = Promise.resolve()
  const due = () => {
    const next = waiting[0]
    if (next === undefined || next.after > ended) return
    waiting.shift()
    // Faults run one after the other, concurrently with operations.
    fault = fault.then(() => during(world, next))
  }
  await Promise.all(
    sessions.map(async (session, place) => {
      for (const step of schedule.steps[place] ?? []) {
        await perform({ session, step, schedule })
        ended++
        due()
      }
    }),
  )
  await fault
}

async function during(world: World, fault: PlannedFault): Promise<void> {
  try {
    await doFault(world, fault)
  } catch (error) {
    world.diverge(`fault ${fault.kind} after ${fault.after}`, 'a daemon that starts again', String(error))
  }
}

async function perform(context: Context): Promise<void> {
  const { session, step } = context
  const operation = OPERATIONS[step.kind]
  if (operation === undefined) throw new Error(`there is no operation ${step.kind}`)
  await operation(context).catch((error: unknown) => {
    const told = error instanceof Error ? (error.stack ?? error.message) : String(error)
    session.world.diverge(`${step.number} ${step.kind}`, 'an operation that ends', told)
  })
}
