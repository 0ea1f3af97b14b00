import type { Span } from '../history.js'
import type { SpaceModel } from '../model.js'
import type { Schedule, Step } from '../schedule.js'
import type { Refused, Session } from '../session.js'

/** The environment of an operation. */
export interface Context {
  session: Session
  step: Step
  schedule: Schedule
}

export type Operation = (context: Context) => Promise<void>

/** A space that is never deleted in four of five operations, else any space. */
export function pickSpace({ session, step }: Context): SpaceModel {
  const kept = session.tenant.spaces.filter(({ isKept }) => isKept)
  const space = choose(pick(step, 0) < 0.8 ? kept : session.tenant.spaces, pick(step, 1))
  if (space === undefined) throw new Error(`${session.tenant.name} has no space`)
  return space
}

/** The n-th number of the step. */
export function pick(step: Step, place: number): number {
  return step.picks[place] ?? 0
}

export function choose<T>(among: readonly T[], number: number): T | undefined {
  return among[Math.floor(number * among.length)]
}

export function diverge({ session, step }: Context, expected: string, found: string): void {
  session.world.diverge(`${step.number} ${step.kind}`, expected, found)
}

/**
 * Checks that a refusal is allowed: by the operation, as 404 if its space may be deleted, or as a full disk while the
 * disk is full.
 *
 * @returns true when the refusal leaves open whether something was done
 */
export function expectRefusal(
  context: Context,
  space: SpaceModel | undefined,
  refused: Refused,
  allowed: readonly (number | string)[] = [],
): void {
  const { status, code } = refused
  if (allowed.includes(status) || allowed.includes(code)) return
  if (status === 404 && space !== undefined && space.mayBeGone(refused)) return
  if (code === 'deletion-active' && space?.mayBeGone(refused) === true) return
  // It has been reported already.
  if (code === 'internal') return
  diverge(context, `an answer, or a refusal with ${allowed.join(', ') || 'nothing'}`, describe(refused))
}

export function describe(refused: Refused): string {
  return `${refused.status} ${refused.code}: ${refused.message}`
}

/** A read of an object that may exist shows whether it does. */
export function expectThere(context: Context, what: string, possible: boolean[], isThere: boolean, span: Span): void {
  if (possible.includes(isThere)) return
  diverge(
    context,
    `${what} ${possible[0] === true ? 'is there' : 'is gone'} at ${span.from} to ${span.to}`,
    isThere ? 'it is there' : 'it is not',
  )
}

/** All pages of a list. */
export async function allPages<T>(
  fetchPage: (cursor: string | undefined) => Promise<{ items: T[]; nextCursor?: string | undefined } | Refused>,
): Promise<T[] | Refused> {
  const items: T[] = []
  let cursor: string | undefined
  do {
    const page = await fetchPage(cursor)
    if ('status' in page) return page
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}
