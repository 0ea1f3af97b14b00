import { KsError } from '../../../contract/errors.js'
import type { CreateSourceBody, Source, UpdateSourceBody } from '../../../contract/gateway/sources.js'
import { newId } from '../../../lib/ids.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { Page, PageRequest } from '../../base/page.js'
import type { EngineContext } from '../../library/index.js'
import type { AddressRule } from '../../models/index.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell, readablePageIn } from '../../store/readable.js'
import {
  findSource,
  insertSource,
  listSourcesAfter,
  type SourceRow,
  updateSource as writeSource,
} from '../../store/rows/sources.js'
import { findSpace } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import { checkConnector, isSyncable } from './connectors/registry.js'
import { checkUri, parseContent, type SourceContent } from './content.js'
import type { CredentialBox } from './credentials.js'
import { computeNextRun, parseSyncPolicy } from './sync-policy.js'
import { toSource } from './to-source.js'

export interface SourceParts {
  context: EngineContext
  box: CredentialBox
  mayDial: AddressRule
}

export async function createSource(
  { context, box, mayDial }: SourceParts,
  caller: Caller,
  spaceId: string,
  body: CreateSourceBody,
): Promise<Source> {
  const { db, now } = context
  parseSyncPolicy(body.metadata ?? {}) // an invalid request is reported before a missing space
  await db.read(findSpace(caller.tenant, spaceId))
  checkUri(body.type, body.uri, mayDial)
  const content = parseContent(body.type, body.metadata)
  checkConnector(body.type, content.metadata, { uri: body.uri, credentials: content.credentials ?? undefined }, mayDial)
  return writeReply(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    const id = newId()
    const row = yield* insertSource(
      caller,
      space,
      {
        id,
        name: body.name,
        type: body.type,
        uri: body.uri,
        status: body.status ?? 'active',
        permission_scope: JSON.stringify(body.permissionScope),
        metadata: JSON.stringify(content.metadata),
        credentials: content.credentials == null ? null : box.seal(id, content.credentials),
        next_sync_at: computeFirstRun(body.type, content, now()),
      },
      now(),
    )
    return yield* toSource(space, row)
  })
}

/** Only sources with a connector are synced. The first sync is due after one period. */
function computeFirstRun(type: Source['type'], { metadata, policy }: SourceContent, now: number): number | null {
  return policy !== undefined && isSyncable(type, metadata) ? computeNextRun(policy, now) : null
}

export function* listSources(caller: Caller, spaceId: string, page: PageRequest): Read<Page<Source>> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const filter = hashFilter('sources', caller.tenant, space.id)
  const after = page.cursor === undefined ? '' : String(decodeCursor(page.cursor, filter).after[0] ?? '')
  const rows = yield* listSourcesAfter(caller, space, after, page.limit + 1)
  return yield* readablePageIn(
    rows,
    page.limit,
    (row) => toSource(space, row),
    ({ id }) => encodeCursor({ after: [id] }, filter),
  )
}

export function* getSource(caller: Caller, spaceId: string, id: string): Read<Source> {
  const space = yield* findSpace(caller.tenant, spaceId)
  return yield* toSource(space, yield* findSource(caller, space, id))
}

/** @throws KsError `version-mismatch` when it was changed since */
export function updateSource(
  { context, box, mayDial }: SourceParts,
  caller: Caller,
  { spaceId, id }: { spaceId: string; id: string },
  body: UpdateSourceBody,
): Promise<Source> {
  const { db, now } = context
  parseSyncPolicy(body.metadata ?? {})
  return writeReply(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    const row = yield* findSource(caller, space, id)
    const content = body.metadata === undefined ? undefined : parseContent(row.type, body.metadata)
    if (content !== undefined)
      checkConnector(
        row.type,
        content.metadata,
        { uri: row.uri, credentials: content.credentials ?? undefined },
        mayDial,
      )
    if (body.expectedVersion !== undefined && body.expectedVersion !== row.version)
      throw new KsError(
        'version-mismatch',
        `source ${id} has version ${row.version}, expectedVersion is ${body.expectedVersion}`,
      )
    const changes = {
      name: body.name ?? row.name,
      status: computeStatus(row, body.status),
      metadata: content === undefined ? row.metadata : JSON.stringify(content.metadata),
      credentials: computeCredentials(box, row, content),
      next_sync_at: computeNextSyncAt(row, content, now()),
    }
    yield* writeSource(row, changes, now())
    return yield* toSource(space, yield* findSource(caller, space, id))
  })
}

/** A running sync sets the status when it ends; only disabling stops it. */
function computeStatus(row: SourceRow, requested: UpdateSourceBody['status']): Source['status'] {
  if (requested === undefined) return row.status
  return requested === 'active' && row.status === 'syncing' ? 'syncing' : requested
}

/**
 * Credentials are never returned, so that a client that replaces the metadata cannot repeat them: they are kept unless
 * given.
 */
function computeCredentials(box: CredentialBox, row: SourceRow, content: SourceContent | undefined): Uint8Array | null {
  if (content?.credentials === undefined) return row.credentials
  return content.credentials === null ? null : box.seal(row.id, content.credentials)
}

function computeNextSyncAt(row: SourceRow, content: SourceContent | undefined, now: number): number | null {
  if (content === undefined) return row.next_sync_at
  const before: { syncPolicy?: unknown } = parseJsonCell(row.metadata)
  const isUnchanged = JSON.stringify(before.syncPolicy) === JSON.stringify(content.metadata.syncPolicy)
  return isUnchanged && isSyncable(row.type, content.metadata)
    ? row.next_sync_at
    : computeFirstRun(row.type, content, now)
}
