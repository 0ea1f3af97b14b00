import { KsError } from '../../../contract/errors.js'
import type { BundleManifest } from '../../../contract/gateway/bundles.js'
import type { Caller } from '../../base/caller.js'
import type { ReadLease } from '../../base/leases.js'
import { streamAsTenant } from '../../base/tenant-scope.js'
import type { EngineContext } from '../../library/index.js'
import type { Snapshot } from '../../store/driver.js'
import { SCHEMA } from '../../store/migrations.js'
import type { Read } from '../../store/program.js'
import { listDeniedSources } from '../../store/rows/permissions.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { getActiveVectorSpace } from '../../store/rows/vector-spaces.js'
import {
  type BundledDocument,
  type BundleRow,
  getPageSize,
  listBundledDocuments,
  listRowsAfter,
} from '../rows/bundles/read.js'
import type { SpaceTable } from '../rows/bundles/tables.js'
import { BundleWriter, RowsWriter } from './bundle-writer.js'
import { exportDocuments } from './export-documents.js'
import { BUNDLE_FORMAT, FORMAT_VERSION, MANIFEST, TABLES_AFTER, TABLES_BEFORE } from './format.js'
import { BUNDLE_LIMITS } from './limits.js'
import { formatLine } from './rows.js'
import { exportObjects, type SpaceExport, yieldToForeground } from './space-export.js'

/** A bundle that is being written. */
export interface OpenBundle {
  bytes: AsyncIterable<Uint8Array>
  /** Releases its resources, whether it was read completely or not. */
  close(): void
}

/**
 * Opens the bundle of some spaces, in one state of the database. It contains everything in a space, so the caller needs
 * access to all of its sources.
 *
 * @throws KsError `not-found`; `scope-missing` where the scope of a source excludes the caller
 */
export async function openBundle(
  context: EngineContext,
  caller: Caller,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<OpenBundle> {
  const snapshot = await context.db.snapshot()
  const leases: ReadLease[] = []
  const close = () => {
    snapshot.close()
    for (const lease of leases) lease.release()
  }
  try {
    const spaces: SpaceRow[] = []
    for (const id of [...new Set(ids)].sort()) spaces.push(await snapshot.read(findExportableSpace(caller, id)))
    // documents that are deleted meanwhile keep their bytes until the leases are released
    for (const space of spaces) leases.push(acquireReadLease(context, space))
    const bytes = streamAsTenant(caller.tenant, () => writeBundle(context, snapshot, spaces, signal))
    return { bytes, close }
  } catch (error) {
    close()
    throw error
  }
}

function* findExportableSpace(caller: Caller, id: string): Read<SpaceRow> {
  const space = yield* findSpace(caller.tenant, id)
  if ((yield* listDeniedSources(space.key, caller)).length > 0)
    throw new KsError(
      'scope-missing',
      `the space ${JSON.stringify(space.slug)} has sources whose permissionScope excludes you: a bundle would contain their documents`,
    )
  return space
}

function acquireReadLease({ leases }: EngineContext, { key, id }: SpaceRow): ReadLease {
  const request = {
    spaceKey: key,
    sessionId: id,
    type: 'read',
    targetType: 'bundle',
    targetId: id,
    virtualPath: '/',
  } as const
  const lease = leases.acquire(request)
  lease.keepAlive()
  return lease
}

async function* writeBundle(
  context: EngineContext,
  snapshot: Snapshot,
  spaces: readonly SpaceRow[],
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const writer = new BundleWriter()
  yield* writer.json(MANIFEST, buildManifest(spaces))
  for (const space of spaces) yield* exportSpace(context, { snapshot, writer, space, signal })
  yield* writer.end()
}

function buildManifest(spaces: readonly SpaceRow[]): BundleManifest {
  return {
    format: BUNDLE_FORMAT,
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

async function* exportSpace(context: EngineContext, spaceExport: SpaceExport): AsyncGenerator<Uint8Array> {
  const { snapshot, writer, space } = spaceExport
  const rows = new RowsWriter(writer, space.id)
  yield* rows.add('spaces', [formatLine('spaces', { ...space })])
  const sources = new Set<string>()
  for (const table of TABLES_BEFORE)
    for await (const page of readPages(context, spaceExport, table)) {
      if (table === 'sources') for (const { id } of page) sources.add(String(id))
      if (table === 'source_readers') for (const { source_id } of page) sources.add(String(source_id))
      yield* rows.add(
        table,
        page.map((row) => formatLine(table, toPortableRow(table, row))),
      )
    }
  const vectorSpace = (await snapshot.read(getActiveVectorSpace(space)))?.key
  for (let after = ''; ; ) {
    await yieldToForeground(context, spaceExport.signal)
    const page = limitPage(await snapshot.read(listBundledDocuments(space, after, BUNDLE_LIMITS.pageDocuments)))
    const last = page.at(-1)
    if (last === undefined) break
    after = last.id
    yield* exportDocuments(context, spaceExport, { rows, page, sources, vectorSpace })
  }
  for (const table of TABLES_AFTER)
    for await (const page of readPages(context, spaceExport, table)) {
      const lines = page.map((row) => formatLine(table, row))
      if (table !== 'workspace_files' && table !== 'snapshot_files') yield* rows.add(table, lines)
      else {
        yield* rows.flush()
        yield* exportObjects(context, spaceExport, page)
        yield* rows.page(table, lines)
      }
    }
  yield* rows.flush()
}

/** The rows of a table, page by page. */
async function* readPages(context: EngineContext, { snapshot, space, signal }: SpaceExport, table: SpaceTable) {
  for (let after: BundleRow | undefined; ; ) {
    await yieldToForeground(context, signal)
    const page = await snapshot.read(listRowsAfter(space, table, after))
    if (page.length > 0) yield page
    after = page.at(-1)
    if (page.length < getPageSize(table)) return
  }
}

/** A row as another store can have it: without work in progress. */
function toPortableRow(table: SpaceTable, row: BundleRow): BundleRow {
  if (table !== 'sources' || row.status !== 'syncing') return row
  return { ...row, status: 'active' }
}

/** Documents whose objects are received together. */
function limitPage(documents: BundledDocument[]): BundledDocument[] {
  let bytes = 0
  const end = documents.findIndex(({ size_bytes }, index) => {
    bytes += size_bytes
    return index > 0 && bytes > BUNDLE_LIMITS.pageBytes
  })
  return end < 0 ? documents : documents.slice(0, end)
}
