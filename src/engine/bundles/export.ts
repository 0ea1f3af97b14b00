import { KsError } from '../../contract/errors.js'
import type { BundleManifest } from '../../contract/gateway/bundles.js'
import type { Caller } from '../base/caller.js'
import type { Lease } from '../base/leases.js'
import type { EngineContext } from '../context.js'
import { type BundledDocument, documentsFor, pageOf, type Row, rowsAfter } from '../rows/bundles/read.js'
import type { WholeTable } from '../rows/bundles/tables.js'
import { deniedSources } from '../rows/permissions.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { activeVectorSpace } from '../rows/vector-spaces.js'
import type { Snapshot } from '../storage/driver.js'
import { SCHEMA } from '../storage/migrations.js'
import type { Read } from '../storage/program.js'
import { ofDocuments } from './export-documents.js'
import { type Exporting, objectsOf, pause } from './exporting.js'
import { FORMAT, FORMAT_VERSION, MANIFEST, TABLES_BEFORE, TABLES_BEHIND } from './format.js'
import { BUNDLE_LIMITS } from './limits.js'
import { lineOf } from './rows.js'
import { BundleWriter, RowsWriter } from './tar-writer.js'

/** A bundle that is being made. */
export interface OpenBundle {
  bytes: AsyncIterable<Uint8Array>
  /** Gives up what it holds, whether it was read or not. */
  close(): void
}

/**
 * Opens the bundle of some spaces, in one state of the database. Everything of a space is in it, whoever it belongs to, so
 * that only who may know of all its sources gets it.
 *
 * @throws KsError `not-found`; `scope-missing` where the scope of a source leaves the caller out
 */
export async function openBundle(
  context: EngineContext,
  caller: Caller,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<OpenBundle> {
  const snapshot = await context.db.snapshot()
  const leases: Lease[] = []
  const close = () => {
    snapshot.close()
    for (const lease of leases) lease.release()
  }
  try {
    const spaces: SpaceRow[] = []
    for (const id of [...new Set(ids)].sort()) spaces.push(await snapshot.read(spaceFor(caller, id)))
    // documents that are deleted meanwhile keep their bytes until these are released
    for (const space of spaces) leases.push(leaseOf(context, space))
    return { bytes: whole(context, snapshot, spaces, signal), close }
  } catch (error) {
    close()
    throw error
  }
}

function* spaceFor(caller: Caller, id: string): Read<SpaceRow> {
  const space = yield* findSpace(caller.tenant, id)
  if ((yield* deniedSources(space.key, caller)).length > 0)
    throw new KsError(
      'scope-missing',
      `the space ${JSON.stringify(space.slug)} has sources whose permissionScope leaves you out: a bundle would hold their documents`,
    )
  return space
}

function leaseOf({ leases }: EngineContext, { key, id }: SpaceRow): Lease {
  const hold = {
    spaceKey: key,
    sessionId: id,
    type: 'read',
    targetType: 'bundle',
    targetId: id,
    virtualPath: '/',
  } as const
  const lease = leases.acquire(hold)
  lease.keepAlive()
  return lease
}

async function* whole(
  context: EngineContext,
  snapshot: Snapshot,
  spaces: readonly SpaceRow[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const writer = new BundleWriter()
  yield* writer.json(MANIFEST, manifestOf(spaces))
  for (const space of spaces) yield* ofSpace(context, { snapshot, writer, space, signal })
  yield* writer.end()
}

function manifestOf(spaces: readonly SpaceRow[]): BundleManifest {
  return {
    format: FORMAT,
    schema: SCHEMA,
    spaces: spaces.map(({ id, slug, fingerprint, head_revision }) => ({
      fingerprint,
      headRevision: head_revision,
      id,
      slug,
    })),
    version: FORMAT_VERSION,
  }
}

async function* ofSpace(context: EngineContext, of: Exporting): AsyncGenerator<Uint8Array> {
  const { snapshot, writer, space } = of
  const rows = new RowsWriter(writer, space.id)
  yield* rows.add('spaces', [lineOf('spaces', { ...space })])
  const sources = new Set<string>()
  for (const table of TABLES_BEFORE)
    for await (const page of pages(context, of, table)) {
      if (table === 'sources') for (const { id } of page) sources.add(String(id))
      if (table === 'source_readers') for (const { source_id } of page) sources.add(String(source_id))
      yield* rows.add(
        table,
        page.map((row) => lineOf(table, told(table, row))),
      )
    }
  const vectorSpace = (await snapshot.read(activeVectorSpace(space)))?.key
  for (let after = ''; ; ) {
    await pause(context, of.signal)
    const page = cutPage(await snapshot.read(documentsFor(space, after, BUNDLE_LIMITS.pageDocuments)))
    const last = page.at(-1)
    if (last === undefined) break
    after = last.id
    yield* ofDocuments(context, of, { rows, page, sources, vectorSpace })
  }
  for (const table of TABLES_BEHIND)
    for await (const page of pages(context, of, table)) {
      const lines = page.map((row) => lineOf(table, row))
      if (table !== 'workspace_files' && table !== 'snapshot_files') yield* rows.add(table, lines)
      else {
        yield* rows.flush()
        yield* objectsOf(context, of, page)
        yield* rows.page(table, lines)
      }
    }
  yield* rows.flush()
}

/** The rows of a table, some at a time. */
async function* pages(context: EngineContext, { snapshot, space, signal }: Exporting, table: WholeTable) {
  for (let after: Row | undefined; ; ) {
    await pause(context, signal)
    const page = await snapshot.read(rowsAfter(space, table, after))
    if (page.length > 0) yield page
    after = page.at(-1)
    if (page.length < pageOf(table)) return
  }
}

/** A row as another store can have it: nothing of it is under way there. */
function told(table: WholeTable, row: Row): Row {
  if (table !== 'sources' || row.status !== 'syncing') return row
  return { ...row, status: 'active' }
}

/** Documents whose objects are received together. */
function cutPage(documents: BundledDocument[]): BundledDocument[] {
  let bytes = 0
  const end = documents.findIndex(({ size_bytes }, at) => {
    bytes += size_bytes
    return at > 0 && bytes > BUNDLE_LIMITS.pageBytes
  })
  return end < 0 ? documents : documents.slice(0, end)
}
