import { createHash } from 'node:crypto'
import type { DocumentAsset } from '../../../src/contract/gateway/documents.js'
import { wordOf } from '../../crash/ledger.js'
import { Register, type Span } from '../history.js'
import { lifeOf, type SentDocument, type SpaceModel } from '../model.js'
import {
  allPages,
  type Context,
  choose,
  diverge,
  expectRefusal,
  expectThere,
  type Operation,
  pick,
  pickSpace,
} from './context.js'

const BULK = 6

function newDocument({ session, step }: Context, place: number): SentDocument {
  const word = wordOf(step.number * (BULK + 1) + place)
  const { marker } = session.tenant
  const filename = `${marker}-${step.number}-${place}.md`
  const lines = Array.from({ length: 6 }, (_, line) => `Line ${line} of ${marker} speaks about the ${word} once more.`)
  const bytes = Buffer.from(`# Note about ${word}\n\nSignature ${word}.\n\n${lines.join('\n')}\n`)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return { filename, word, bytes, sha256, lives: new Map(), sentAt: session.world.moments.next(), unanswered: 0 }
}

const partOf = ({ filename, bytes }: SentDocument) => ({ filename, mimeType: 'text/markdown', content: { bytes } })

const upload: Operation = async (context) => {
  const document = newDocument(context, 0)
  await send(context, pickSpace(context), document)
}

/** Sends a file whose bytes and name the space has or had. */
const uploadAgain: Operation = async (context) => {
  const space = pickSpace(context)
  const document = choose([...space.documents.values()], pick(context.step, 2))
  if (document !== undefined) await send(context, space, document)
}

async function send(context: Context, space: SpaceModel, document: SentDocument): Promise<void> {
  const { session, step } = context
  space.documents.set(document.filename, document)
  document.unanswered++
  const outcome = await session.write(step, 'POST /knowledge-spaces/{id}/documents', {
    path: { id: space.id },
    upload: { field: 'file', files: [partOf(document)] },
  })
  if (outcome.kind === 'done') {
    const asset = 'asset' in outcome.value ? outcome.value.asset : outcome.value
    accepted(context, document, asset, outcome)
  }
  if (outcome.kind === 'refused') {
    document.unanswered--
    expectRefusal(context, space, outcome)
  }
}

const uploadBulk: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const documents = Array.from({ length: 2 + Math.floor(pick(step, 2) * (BULK - 1)) }, (_, place) =>
    newDocument(context, place),
  )
  for (const document of documents) {
    space.documents.set(document.filename, document)
    document.unanswered++
  }
  const outcome = await session.write(step, 'POST /knowledge-spaces/{id}/documents/bulk', {
    path: { id: space.id },
    upload: { field: 'files', files: documents.map(partOf) },
  })
  if (outcome.kind === 'done') {
    const { items } = outcome.value
    if (items.length !== documents.length) diverge(context, `${documents.length} accepted files`, String(items.length))
    for (const { asset } of items) {
      const document = documents.find(({ filename }) => filename === asset.filename)
      if (document === undefined) diverge(context, 'only files that were sent', asset.filename)
      else accepted(context, document, asset, outcome)
    }
  }
  if (outcome.kind === 'refused') {
    for (const document of documents) document.unanswered--
    expectRefusal(context, space, outcome)
  }
}

/** An upload was acknowledged: from now on the document exists until it is deleted. */
function accepted(context: Context, document: SentDocument, asset: DocumentAsset, span: Span): void {
  if (asset.sha256 !== document.sha256) diverge(context, `${document.filename} with ${document.sha256}`, asset.sha256)
  const known = document.lives.get(asset.id)
  if (known === undefined) {
    const life = new Register(false)
    life.done(life.begin(true, document.sentAt), span.to)
    document.lives.set(asset.id, life)
  } else if (!known.allows(true, span))
    diverge(context, `another document than ${asset.id}, which is deleted`, asset.id)
  document.unanswered--
}

const deleteDocuments: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const known = space.knownIds()
  const count = pick(step, 2) < 0.7 ? 1 : 4
  const ids = [...new Set(Array.from({ length: count }, (_, place) => choose(known, pick(step, 3 + place))))]
  const documentIds = ids.flatMap((id) => (id === undefined ? [] : [id]))
  if (documentIds.length === 0) return
  const from = session.world.moments.next()
  const begun = documentIds.map((id) => {
    const life = space.documentOf(id)?.lives.get(id) ?? new Register(true)
    return { id, life, write: life.begin(false, from) }
  })
  const outcome = await session.write(step, 'DELETE /knowledge-spaces/{id}/documents/bulk', {
    path: { id: space.id },
    body: { documentIds },
  })
  for (const { life, write, id } of begun) {
    if (outcome.kind === 'lost') life.lost(write, outcome.to)
    else if (outcome.kind === 'refused') life.refused(write)
    else {
      const item = outcome.value.items.find(({ documentId }) => documentId === id)
      if (item === undefined) diverge(context, `what became of ${id}`, 'nothing about it')
      life.done(write, outcome.to)
    }
  }
  if (outcome.kind === 'refused') expectRefusal(context, space, outcome)
}

const reindex: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const id = choose(space.knownIds(), pick(step, 2))
  if (id === undefined) return
  const body = pick(step, 3) < 0.1 ? { all: true as const } : { documentIds: [id] }
  const outcome = await session.write(step, 'POST /knowledge-spaces/{id}/documents/bulk/reindex', {
    path: { id: space.id },
    body,
  })
  if (outcome.kind === 'refused') expectRefusal(context, space, outcome)
}

const getDocument: Operation = async (context) => {
  const space = pickSpace(context)
  const id = choose(space.knownIds(), pick(context.step, 2))
  if (id !== undefined) await checkDocument(context, space, id)
}

/** Reads a document and compares it. @returns the response */
export async function checkDocument(
  context: Context,
  space: SpaceModel,
  id: string,
): Promise<DocumentAsset | undefined> {
  const { session, step } = context
  const document = space.documentOf(id)
  const life = document?.lives.get(id)
  const answer = await session.read(step, 'GET /knowledge-spaces/{id}/documents/{documentId}', {
    path: { id: space.id, documentId: id },
  })
  if (answer.kind === 'refused' && (answer.status !== 404 || space.mayBeGone(answer))) {
    expectRefusal(context, space, answer)
    return undefined
  }
  if (document !== undefined && life !== undefined)
    expectThere(context, `${document.filename} (${id})`, life.possible(answer), answer.kind === 'done', answer)
  if (answer.kind === 'refused') return undefined
  if (answer.value.sha256 !== document?.sha256)
    diverge(
      context,
      `${document?.filename} with ${document?.sha256}`,
      `${answer.value.filename} with ${answer.value.sha256}`,
    )
  return answer.value
}

const listDocuments: Operation = async (context) => {
  await checkDocuments(context, pickSpace(context), 1 + Math.floor(pick(context.step, 2) * 20))
}

/** Lists all documents page by page and compares them with the uploads. */
export async function checkDocuments(context: Context, space: SpaceModel, limit: number): Promise<DocumentAsset[]> {
  const { session, step } = context
  const { moments } = session.world
  const known = [...space.documents.values()].flatMap((document) =>
    [...document.lives].map(([id, life]) => ({ document, id, life })),
  )
  const from = moments.next()
  const items = await allPages(async (cursor) => {
    const query = { limit, ...(cursor === undefined ? {} : { cursor }) }
    const page = await session.read(step, 'GET /knowledge-spaces/{id}/documents', { path: { id: space.id }, query })
    return page.kind === 'done' ? page.value : page
  })
  const span = { from, to: moments.next() }
  if (!Array.isArray(items)) {
    expectRefusal(context, space, items, space.mayBeGone(items) ? [404] : [])
    return []
  }
  const found = new Set<string>()
  for (const asset of items) {
    if (found.has(asset.id)) diverge(context, `${asset.id} once`, 'it is listed twice')
    found.add(asset.id)
    checkShown(context, space, asset, span)
  }
  for (const { document, id, life } of known)
    if (!space.mayBeGone(span))
      expectThere(context, `${document.filename} (${id}) in the list`, life.possible(span), found.has(id), span)
  return items
}

/** A document in a read must have been sent with these bytes, and may exist. */
export function checkShown(
  context: Context,
  space: SpaceModel,
  asset: Pick<DocumentAsset, 'id' | 'filename' | 'sha256'>,
  span: Span,
): void {
  const document = space.documents.get(asset.filename)
  if (document === undefined) {
    diverge(context, `only documents that were sent to ${space.slug}`, `${asset.filename} (${asset.id})`)
    return
  }
  if (document.sha256 !== asset.sha256) diverge(context, `${asset.filename} with ${document.sha256}`, asset.sha256)
  const life = lifeOf(document, asset.id, span)
  if (life === undefined) diverge(context, `${asset.filename} as often as it was sent`, `another one, ${asset.id}`)
  else if (!life.allows(true, span)) diverge(context, `${asset.filename} (${asset.id}) to be deleted`, 'it is shown')
}

const search: Operation = async (context) => {
  const space = pickSpace(context)
  const document = choose([...space.documents.values()], pick(context.step, 2))
  if (document === undefined || pick(context.step, 3) < 0.3) {
    await checkSearch(context, space, document?.word ?? 'nothing')
    return
  }
  const [id] = choose([...document.lives], pick(context.step, 4)) ?? []
  if (id !== undefined) await searchPublished(context, space, document, id)
}

/** A document that a read has shown as compiled must be found by its word, unless the search is degraded. */
async function searchPublished(context: Context, space: SpaceModel, document: SentDocument, id: string): Promise<void> {
  const { session, step } = context
  const read = await checkDocument(context, space, id)
  if (read?.parserStatus !== 'parsed') return
  const body = { query: document.word, mode: 'fast' as const, limit: 5 }
  const from = session.world.moments.next()
  const answer = await session.read(step, 'POST /knowledge-spaces/{id}/queries/search', {
    path: { id: space.id },
    body,
  })
  if (answer.kind === 'refused') return expectRefusal(context, space, answer, [429, 'unavailable'])
  const found = answer.value.items.some(({ citations }) =>
    citations.some(({ documentAssetId }) => documentAssetId === id),
  )
  const life = document.lives.get(id)
  const wasThere = life?.possible({ from, to: answer.to }).includes(false) === false
  if (!found && wasThere && !space.mayBeGone(answer) && answer.value.degradedReasons.length === 0)
    diverge(context, `${document.filename} (${id}), which is compiled, to be found by ${document.word}`, 'it is not')
}

/** Searches a word: every hit must exist and belong to this space. @returns ids of the hits */
export async function checkSearch(context: Context, space: SpaceModel, word: string): Promise<string[]> {
  const { session, step } = context
  const body = { query: word, mode: 'fast' as const, limit: 5 }
  const answer = await session.read(step, 'POST /knowledge-spaces/{id}/queries/search', {
    path: { id: space.id },
    body,
  })
  if (answer.kind === 'refused') {
    expectRefusal(context, space, answer, [429, 'unavailable'])
    return []
  }
  const ids = [
    ...new Set(answer.value.items.flatMap(({ citations }) => citations.map(({ documentAssetId }) => documentAssetId))),
  ]
  for (const id of ids) await checkFound(context, space, id, answer)
  return ids
}

async function checkFound(context: Context, space: SpaceModel, id: string, span: Span): Promise<void> {
  const document = space.documentOf(id)
  const life = document?.lives.get(id)
  if (life === undefined) {
    // An upload without a response: its name identifies it.
    const { session, step } = context
    const answer = await session.read(step, 'GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { id: space.id, documentId: id },
    })
    if (answer.kind === 'done') checkShown(context, space, answer.value, answer)
    return
  }
  if (!life.allows(true, span)) diverge(context, `${document?.filename} (${id}) to be deleted`, 'it was found')
}

const query: Operation = async (context) => {
  const { session, step } = context
  const space = pickSpace(context)
  const document = choose([...space.documents.values()], pick(step, 2))
  const body = {
    knowledgeSpaceId: space.id,
    query: `What is said about the ${document?.word ?? 'weather'}?`,
    mode: 'fast',
  }
  const stream = await session.events(step, body)
  for (const id of citedIn(stream?.text ?? '')) if (stream !== undefined) await checkFound(context, space, id, stream)
}

function citedIn(text: string): string[] {
  return [...new Set([...text.matchAll(/"documentAssetId":"([0-9a-f-]+)"/g)].map(([, id = '']) => id))]
}

export const documentOperations = {
  upload,
  uploadAgain,
  uploadBulk,
  deleteDocuments,
  reindex,
  getDocument,
  listDocuments,
  search,
  query,
}
