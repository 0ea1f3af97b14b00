import type { Register } from '../history.js'
import type { SpaceModel } from '../model.js'
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

type File = Register<string | undefined>

const NAMES = 6
/** the second exceeds what is staged in memory */
const LENGTHS = [200, 20_000]

const ownFolder = ({ session }: Context) => `/workspaces/agent-${session.place}`
/** files that only one client writes and moves */
const ownPath = (context: Context, number: number) => `${ownFolder(context)}/f${Math.floor(number * NAMES)}.md`
/** files that every client of the tenant writes */
const sharedPath = (number: number) => `/workspaces/shared/f${Math.floor(number * NAMES)}.md`

function contentOf({ session, step }: Context): string {
  const line = `${session.tenant.marker} wrote this in step ${step.number}.\n`
  return line.repeat(Math.ceil((choose(LENGTHS, pick(step, 5) ** 3) ?? 200) / line.length))
}

const writeOwn: Operation = async (context) => {
  await write(context, pickSpace(context), ownPath(context, pick(context.step, 2)), contentOf(context))
}

const writeShared: Operation = async (context) => {
  await write(context, pickSpace(context), sharedPath(pick(context.step, 2)), contentOf(context))
}

/** Reads a file of this client and writes it back with another line. */
const append: Operation = async (context) => {
  const space = pickSpace(context)
  const path = ownPath(context, pick(context.step, 2))
  const before = await cat(context, space, path)
  await write(context, space, path, `${before ?? ''}${contentOf(context)}`.slice(-40_000))
}

async function write(context: Context, space: SpaceModel, path: string, content: string): Promise<void> {
  const { session, step } = context
  const file = space.file(path)
  const begun = file.begin(content, session.world.moments.next())
  const outcome = await session.write(step, 'PUT /knowledge-spaces/{id}/fs/write', {
    path: { id: space.id },
    body: { path, content },
  })
  if (outcome.kind === 'done') return file.done(begun, outcome.to)
  if (outcome.kind === 'lost') file.lost(begun, outcome.to)
  else {
    file.refused(begun)
    expectRefusal(context, space, outcome)
  }
}

const removeOwn: Operation = async (context) => {
  await remove(context, pickSpace(context), ownPath(context, pick(context.step, 2)))
}

const removeShared: Operation = async (context) => {
  await remove(context, pickSpace(context), sharedPath(pick(context.step, 2)))
}

async function remove(context: Context, space: SpaceModel, path: string): Promise<void> {
  const { session, step } = context
  const file = space.file(path)
  const begun = file.begin(undefined, session.world.moments.next())
  const outcome = await session.write(step, 'DELETE /knowledge-spaces/{id}/fs/rm', {
    path: { id: space.id },
    query: { path },
  })
  if (outcome.kind === 'done') return file.done(begun, outcome.to)
  if (outcome.kind === 'lost') return file.lost(begun, outcome.to)
  if (outcome.status !== 404) {
    file.refused(begun)
    return expectRefusal(context, space, outcome)
  }
  // Repeated with a key, it may have removed the file although its first response was lost.
  if (step.key !== undefined) return file.lost(begun, outcome.to)
  file.refused(begun)
  if (!file.allows(undefined, outcome) && !space.mayBeGone(outcome))
    diverge(context, `${path} to be there`, describe(outcome))
}

/** Moves a file of this client, or the complete folder there and back again. */
const move: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const oldPath = ownPath(context, pick(step, 2))
  const newPath = ownPath(context, pick(step, 3))
  if (oldPath === newPath) return
  const source = space.file(oldPath)
  const target = space.file(newPath)
  const outcome = await session.write(step, 'POST /knowledge-spaces/{id}/fs/mv', {
    path: { id: space.id },
    body: { oldPath, newPath },
  })
  const now = { from: session.world.moments.next(), to: session.world.moments.next() }
  const before = source.possible(now)
  const there = target.possible(now)
  const isSure = before.length === 1 && there.length === 1
  if (outcome.kind === 'done' && isSure) {
    if (before[0] === undefined || there[0] !== undefined)
      diverge(
        context,
        `a refusal: ${oldPath} is ${sizeOf(before[0])}, ${newPath} is ${sizeOf(there[0])}`,
        'it was moved',
      )
    target.settle(before[0], now)
    source.settle(undefined, now)
    return
  }
  if (outcome.kind === 'refused') {
    const allowed = before.includes(undefined) || outcome.code !== 'not-found'
    if (!allowed && step.key === undefined) expectRefusal(context, space, outcome)
    if (outcome.code === 'path-taken' && isSure && there[0] === undefined && step.key === undefined)
      diverge(context, `${newPath} to be free`, describe(outcome))
    if (outcome.status !== 404 && outcome.code !== 'path-taken') return expectRefusal(context, space, outcome)
  }
  // It may have moved although its response was lost: both files are read, complete or missing.
  await look(context, space, [
    { path: oldPath, file: source, allowed: [...before, undefined] },
    { path: newPath, file: target, allowed: [...before, ...there] },
  ])
}

interface Looked {
  path: string
  file: File
  allowed: (string | undefined)[]
}

/** Reads files that only this client changes, and takes the result as their content. */
async function look(context: Context, space: SpaceModel, files: Looked[]): Promise<void> {
  for (const { path, file, allowed } of files) {
    const found = await readFile(context, space, path)
    if (found === 'gone') return
    if (!allowed.includes(found.content))
      diverge(context, `${path} is one of ${allowed.map(sizeOf).join(' | ')}`, sizeOf(found.content))
    file.settle(found.content, found)
  }
}

/** Removes the complete folder of the client. */
const removeFolder: Operation = async (context) => {
  const { session, step } = context
  if (pick(step, 4) > 0.4) return
  const space = pickSpace(context)
  const folder = ownFolder(context)
  const query = { path: folder, recursive: 'true' as const }
  const outcome = await session.write(step, 'DELETE /knowledge-spaces/{id}/fs/rm', { path: { id: space.id }, query })
  const files = [...space.files].filter(([path]) => path.startsWith(`${folder}/`))
  if (outcome.kind === 'refused' && outcome.status !== 404) return expectRefusal(context, space, outcome)
  const now = { from: session.world.moments.next(), to: session.world.moments.next() }
  if (outcome.kind === 'done') for (const [, file] of files) file.settle(undefined, now)
  else
    await look(
      context,
      space,
      files.map(([path, file]) => ({ path, file, allowed: [...file.possible(now), undefined] })),
    )
}

const readOwn: Operation = async (context) => {
  await cat(context, pickSpace(context), ownPath(context, pick(context.step, 2)))
}

const readShared: Operation = async (context) => {
  await cat(context, pickSpace(context), sharedPath(pick(context.step, 2)))
}

/** Reads a file and compares it. */
export async function cat(context: Context, space: SpaceModel, path: string): Promise<string | undefined> {
  const found = await readFile(context, space, path)
  if (found === 'gone') return undefined
  const file = space.file(path)
  if (file.allows(found.content, found)) {
    if (found.content !== undefined) file.seen(found.content, found)
  } else diverge(context, `${path} is one of ${file.possible(found).map(sizeOf).join(' | ')}`, sizeOf(found.content))
  return found.content
}

/** @returns `gone` if the space is deleted or may be */
async function readFile(context: Context, space: SpaceModel, path: string) {
  const { session, step } = context
  const answer = await session.read(step, 'GET /knowledge-spaces/{id}/fs/cat', {
    path: { id: space.id },
    query: { path, maxBytes: 100_000 },
  })
  const { from, to } = answer
  if (answer.kind === 'done') return { content: answer.value.content, from, to }
  if (space.mayBeGone(answer)) return 'gone'
  if (answer.status !== 404) diverge(context, `${path} or that there is none`, describe(answer))
  return { content: undefined, from, to }
}

const listFiles: Operation = async (context) => {
  const shared = pick(context.step, 2) < 0.5
  await checkFolder(context, pickSpace(context), shared ? '/workspaces/shared' : ownFolder(context))
}

/** Lists a folder in small pages; every name must be possible, and none may be missing. */
export async function checkFolder(context: Context, space: SpaceModel, folder: string): Promise<void> {
  const { session, step } = context
  const { moments } = session.world
  const from = moments.next()
  const items = await allPages(async (cursor) => {
    const query = { path: folder, limit: 2, ...(cursor === undefined ? {} : { cursor }) }
    const page = await session.read(step, 'GET /knowledge-spaces/{id}/fs/ls', { path: { id: space.id }, query })
    return page.kind === 'done' ? page.value : page
  })
  const span = { from, to: moments.next() }
  if (!Array.isArray(items) && (items.status !== 404 || space.mayBeGone(items)))
    return expectRefusal(context, space, items)
  const found = new Set(Array.isArray(items) ? items.map(({ path }) => path) : [])
  for (const [path, file] of space.files) {
    if (!path.startsWith(`${folder}/`)) continue
    const possible = file.possible(span).map((content) => content !== undefined)
    if (!possible.includes(found.has(path)))
      diverge(context, `${path} listed: ${possible.join(' or ')}`, String(found.has(path)))
  }
  for (const path of found)
    if (!space.files.has(path)) diverge(context, `only files that were written in ${folder}`, path)
}

function sizeOf(content: string | undefined): string {
  if (content === undefined) return 'absent'
  return `${content.length} characters ending ${JSON.stringify(content.slice(-40))}`
}

export const workspaceOperations = {
  writeOwn,
  writeShared,
  append,
  removeOwn,
  removeShared,
  move,
  removeFolder,
  readOwn,
  readShared,
  listFiles,
}
