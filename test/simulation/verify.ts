import { setTimeout as sleep } from 'node:timers/promises'
import type { DocumentAsset } from '../../src/contract/gateway/documents.js'
import { FsckCheck } from '../../src/contract/gateway/integrity.js'
import type { SpaceModel } from './model.js'
import { checkConversation, checkConversations } from './operations/chat.js'
import { type Context, describe, diverge } from './operations/context.js'
import { checkDocument, checkDocuments, checkSearch } from './operations/documents.js'
import { checkQuestions } from './operations/quality.js'
import { checkResearch } from './operations/research.js'
import { checkSettings, checkSources } from './operations/settings.js'
import { checkSpace } from './operations/spaces.js'
import { checkSnapshot } from './operations/upkeep.js'
import { cat, checkFolder } from './operations/workspaces.js'

const POLL_MS = 250

/** Compares all data of one tenant with the acknowledgements, while no client works. */
export async function verifyTenant(context: Context): Promise<void> {
  const { session } = context
  for (const space of session.tenant.spaces) {
    await checkSpace(context, space)
    const now = { from: session.world.moments.next(), to: session.world.moments.next() }
    if (!space.isThere.allows(true, now)) continue
    if (space.mayBeGone(now) && (await isGone(context, space))) continue
    await verifySpace(context, space)
  }
}

/** Compares the conversations of an end user with the answers. */
export async function verifyChat(context: Context): Promise<void> {
  await checkConversations(context)
  for (const conversation of context.session.endUser.conversations.values())
    await checkConversation(context, conversation)
}

async function isGone({ session, step }: Context, { id }: SpaceModel): Promise<boolean> {
  return (await session.read(step, 'GET /knowledge-spaces/{id}', { path: { id } })).kind === 'refused'
}

async function verifySpace(context: Context, space: SpaceModel): Promise<void> {
  await untilIdle(context, space)
  const documents = await checkDocuments(context, space, 7)
  const names = documents.map(({ filename }) => filename)
  for (const name of new Set(names.filter((one, place) => names.indexOf(one) !== place)))
    diverge(context, `${name} once`, 'several documents hold the same bytes under this name')
  for (const id of space.knownIds()) await checkDocument(context, space, id)
  for (const { filename, parserStatus } of documents)
    if (parserStatus !== 'parsed') diverge(context, `${filename} to be compiled`, parserStatus)
  await verifyPaths(context, space, documents)
  await verifyWords(context, space, documents)
  for (const [path, file] of space.files) {
    const { moments } = context.session.world
    const from = moments.next()
    file.settle(await cat(context, space, path), { from, to: moments.next() })
  }
  const folders = new Set([...space.files.keys()].map((path) => path.slice(0, path.lastIndexOf('/'))))
  for (const folder of folders) await checkFolder(context, space, folder)
  await checkQuestions(context, space)
  await checkSettings(context, space)
  await checkSources(context, space)
  for (const snapshot of space.snapshots) await checkSnapshot(context, space, snapshot)
  await checkResearch(context, space)
  await verifyCounts(context, space, documents)
  await verifyIntegrity(context, space)
}

/** Waits until no document is being compiled, as long as there is progress. */
async function untilIdle(context: Context, space: SpaceModel): Promise<void> {
  const { session, step } = context
  let last = ''
  let since = performance.now()
  for (;;) {
    const jobs = await session.read(step, 'GET /knowledge-spaces/{id}/jobs', {
      path: { id: space.id },
      query: { limit: 1000, state: 'open' },
    })
    if (jobs.kind === 'refused') return diverge(context, 'the open jobs', describe(jobs))
    if (jobs.value.items.length === 0) return
    const state = JSON.stringify(jobs.value.items)
    if (state !== last) since = performance.now()
    last = state
    if (performance.now() - since > session.world.stuckMs) return diverge(context, 'no job that is stuck', state)
    await sleep(POLL_MS)
  }
}

/** `ls`, `find`, `tree` and `grep` show exactly the existing documents. */
async function verifyPaths(context: Context, space: SpaceModel, documents: DocumentAsset[]): Promise<void> {
  const { session, step } = context
  const path = { id: space.id }
  const alive = documents.map(({ id }) => id).sort()
  const compare = (what: string, shown: (string | undefined)[]) => {
    const ids = [...new Set(shown)].sort()
    if (ids.join() !== alive.join())
      diverge(context, `${what} to show ${alive.length} documents: ${alive.join()}`, ids.join())
  }
  const query = { path: '/sources/uploads', limit: 1000 }
  const ls = await session.read(step, 'GET /knowledge-spaces/{id}/fs/ls', { path, query })
  // A folder without documents does not exist.
  compare('ls', ls.kind === 'done' ? ls.value.items.map(({ targetId }) => targetId) : [])
  const find = await session.read(step, 'GET /knowledge-spaces/{id}/fs/find', {
    path,
    query: { path: '/sources', limit: 1000, resourceType: 'document' },
  })
  compare('find', find.kind === 'done' ? find.value.items.map(({ targetId }) => targetId) : [])
  const tree = await session.read(step, 'GET /knowledge-spaces/{id}/fs/tree', {
    path,
    query: { path: '/sources', limit: 1000, depth: 3 },
  })
  const leaves = tree.kind === 'done' ? JSON.stringify(tree.value).matchAll(/"targetId":"([^"]+)"/g) : []
  compare(
    'tree',
    [...leaves]
      .map(([, id]) => id)
      .filter((id) => alive.includes(id ?? '') || space.documentOf(id ?? '') !== undefined),
  )
  const grep = await session.read(step, 'GET /knowledge-spaces/{id}/fs/grep', {
    path,
    query: { path: '/sources', q: 'Signature ', limit: 1000, timeoutMs: 10_000 },
  })
  if (grep.kind === 'refused') return diverge(context, 'matches of grep', describe(grep))
  const words = new Set(documents.map(({ filename }) => space.documents.get(filename)?.word ?? filename))
  const found = new Set(grep.value.matches.map(({ snippet }) => /Signature (\w+)\./.exec(snippet)?.[1] ?? snippet))
  if ([...words].sort().join() !== [...found].sort().join() && !grep.value.truncated)
    diverge(context, `grep to find ${[...words].sort().join()}`, [...found].sort().join())
}

/** Every document is found by its word, and no deleted one is; the indexes may still be catching up. */
async function verifyWords(context: Context, space: SpaceModel, documents: DocumentAsset[]): Promise<void> {
  let missing = documents
  const deadline = performance.now() + context.session.world.stuckMs
  while (missing.length > 0) {
    const still: DocumentAsset[] = []
    for (const document of missing) {
      const word = space.documents.get(document.filename)?.word ?? ''
      if (!(await checkSearch(context, space, word)).includes(document.id)) still.push(document)
    }
    if (still.length > 0 && still.length === missing.length && performance.now() > deadline)
      return diverge(context, 'every document to be found by its word', still.map(({ filename }) => filename).join())
    missing = still
    if (missing.length > 0) await sleep(POLL_MS)
  }
  for (const { word, lives } of space.documents.values())
    if (documents.every(({ id }) => !lives.has(id))) await checkSearch(context, space, word)
}

async function verifyCounts(context: Context, space: SpaceModel, documents: DocumentAsset[]): Promise<void> {
  const { session, step } = context
  const stats = await session.read(step, 'GET /knowledge-spaces/{id}/stats', { path: { id: space.id }, query: {} })
  if (stats.kind === 'refused') return diverge(context, 'the counts', describe(stats))
  const { documentCount, rawDocumentBytes, workspaceFileCount = 0 } = stats.value.storage
  const now = { from: session.world.moments.next(), to: session.world.moments.next() }
  const files = [...space.files.values()].filter((file) => file.possible(now).some((content) => content !== undefined))
  const bytes = documents.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  const counted = `${documents.length} documents, ${bytes} bytes, ${files.length} files`
  const told = `${documentCount} documents, ${rawDocumentBytes} bytes, ${workspaceFileCount} files`
  if (told !== counted) diverge(context, counted, told)
}

/** Issues of a check, except leftovers that the next collection removes. */
async function verifyIntegrity(context: Context, space: SpaceModel): Promise<void> {
  const deadline = performance.now() + context.session.world.stuckMs
  for (;;) {
    const issues = await issuesOf(context, space)
    if (issues.length === 0) return
    if (performance.now() > deadline) return diverge(context, 'a check without an issue', issues.join('; '))
    await sleep(POLL_MS)
  }
}

async function issuesOf({ session, step }: Context, { id }: SpaceModel): Promise<string[]> {
  const issues: string[] = []
  for (const check of FsckCheck.options) {
    let cursor: string | undefined
    do {
      const query = { check, ...(cursor === undefined ? {} : { cursor }) }
      const page = await session.read(step, 'GET /knowledge-spaces/{id}/fsck', { path: { id }, query })
      if (page.kind === 'refused') return [describe(page)]
      issues.push(
        ...page.value.issues
          .filter(({ severity }) => severity !== 'info')
          .map(({ type, message }) => `${type}: ${message}`),
      )
      cursor = page.value.cursor
    } while (cursor !== undefined)
  }
  return issues
}
