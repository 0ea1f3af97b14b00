import type { z } from 'zod'
import type { KnowledgeSpace } from '../../../src/contract/gateway/spaces.js'
import type { ModelReference } from '../../../src/contract/primitives.js'
import { SpaceModel } from '../model.js'
import {
  allPages,
  type Context,
  choose,
  describe,
  diverge,
  expectRefusal,
  type Operation,
  pick,
  pickSpace,
} from './context.js'

const createSpace: Operation = async (context) => {
  const { step } = context
  await makeSpace(context, `s-${step.number}`, false)
}

/** Creates a space, and repeats this until it exists exactly once. */
export async function makeSpace(
  context: Context,
  slug: string,
  isKept: boolean,
  embeddingProfile?: z.output<typeof ModelReference>,
): Promise<void> {
  const { session, step } = context
  const { marker } = session.tenant
  const description = `made by ${marker} ${step.number}`
  const body = {
    name: `${marker} ${slug}`,
    slug,
    description,
    ...(embeddingProfile === undefined ? {} : { embeddingProfile }),
  }
  const outcome = await session.write(step, 'POST /knowledge-spaces', { body }, { always: true })
  if (outcome.kind === 'done') {
    session.tenant.spaces.push(new SpaceModel(outcome.value.id, slug, description, isKept))
    return
  }
  // Repeated after a kill: the first request may have created it.
  if (outcome.kind === 'refused' && outcome.code !== 'slug-taken') return expectRefusal(context, undefined, outcome)
  const spaces = await listSpaces(context)
  const found = spaces.find((space) => space.slug === slug)
  if (found !== undefined) session.tenant.spaces.push(new SpaceModel(found.id, slug, description, isKept))
  else if (outcome.kind === 'refused') diverge(context, `the space ${slug}, whose slug is taken`, 'no such space')
}

async function listSpaces(context: Context, limit = 3): Promise<KnowledgeSpace[]> {
  const { session, step } = context
  const items = await allPages(async (cursor) => {
    const page = await session.read(step, 'GET /knowledge-spaces', {
      query: { limit, ...(cursor === undefined ? {} : { cursor }) },
    })
    return page.kind === 'done' ? page.value : page
  })
  if (Array.isArray(items)) return items
  diverge(context, 'a list of spaces', describe(items))
  return []
}

const patchSpace: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const description = `changed by ${session.tenant.marker} ${step.number}`
  const write = space.description.begin(description, session.world.moments.next())
  const outcome = await session.write(step, 'PATCH /knowledge-spaces/{id}', {
    path: { id: space.id },
    body: { description },
  })
  if (outcome.kind === 'done') {
    space.description.done(write, outcome.to)
    if (outcome.value.description !== description) diverge(context, description, String(outcome.value.description))
  } else if (outcome.kind === 'lost') space.description.lost(write, outcome.to)
  else {
    space.description.refused(write)
    expectRefusal(context, space, outcome)
  }
}

const deleteSpace: Operation = async (context) => {
  const { session, step } = context
  const space = choose(
    session.tenant.spaces.filter(({ isKept }) => !isKept),
    pick(step, 1),
  )
  if (space === undefined) return
  const write = space.isThere.begin(false, session.world.moments.next())
  const outcome = await session.write(step, 'DELETE /knowledge-spaces/{id}', { path: { id: space.id } })
  if (outcome.kind === 'done') space.isThere.done(write, outcome.to)
  else if (outcome.kind === 'lost') space.isThere.lost(write, outcome.to)
  else {
    // Another client's deletion, or a first attempt whose response was lost.
    if (outcome.status === 404) space.isThere.done(write, outcome.to)
    else {
      space.isThere.refused(write)
      expectRefusal(context, space, outcome)
    }
  }
}

const getSpace: Operation = async (context) => checkSpace(context, pickSpace(context))

/** Reads a space and compares it. */
export async function checkSpace(context: Context, space: SpaceModel): Promise<void> {
  const { session, step } = context
  const answer = await session.read(step, 'GET /knowledge-spaces/{id}', { path: { id: space.id } })
  if (answer.kind === 'refused') {
    if (answer.status === 404 && space.mayBeGone(answer)) return
    return diverge(context, `the space ${space.slug}`, describe(answer))
  }
  if (!space.isThere.allows(true, answer))
    return diverge(context, `the space ${space.slug} to be deleted`, 'it is there')
  const { description = '', slug } = answer.value
  if (slug !== space.slug) diverge(context, `slug ${space.slug}`, slug)
  if (!space.description.allows(description, answer))
    diverge(context, `one of ${space.description.possible(answer).join(' | ')}`, description)
  else space.description.seen(description, answer)
}

const checkSpaces: Operation = async (context) => {
  const { session } = context
  const { moments } = session.world
  const from = moments.next()
  const known = [...session.tenant.spaces]
  const found = new Set((await listSpaces(context)).map(({ id }) => id))
  const span = { from, to: moments.next() }
  for (const space of known) {
    if (!space.isThere.allows(found.has(space.id), span))
      diverge(
        context,
        `space ${space.slug} listed: ${space.isThere.possible(span).join(' or ')}`,
        String(found.has(space.id)),
      )
  }
}

export const spaceOperations = { createSpace, patchSpace, deleteSpace, getSpace, checkSpaces }
