import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../../../lib/ids.js'
import type { SafeFetch } from '../../egress/safe-fetch.js'
import type { SourceRow } from '../../rows/sources.js'
import { fromCell } from '../../storage/readable.js'
import type { SourceParts } from '../sources.js'
import type { DriveConnection, PageConnection } from './connector.js'
import { connectorOf, noConnector, parametersOf } from './registry.js'

/** larger than the overhead of a multipart body */
const MARGIN_BYTES = 1024 * 1024

export type Opened = { kind: 'pages'; connection: PageConnection } | { kind: 'files'; connection: DriveConnection }

/**
 * Opens the location of a source with its credentials; sends no request yet.
 *
 * @throws KsError `not-configured` when it has no connector, `invalid-request` when its location can never be read
 */
export function openPlace(parts: SourceParts, source: SourceRow, fetch: SafeFetch, signal: AbortSignal): Opened {
  const { box, context } = parts
  const metadata: Record<string, unknown> = fromCell(source.metadata)
  const connector = connectorOf(source.type, metadata)
  if (connector === undefined) throw noConnector(source.type, source.id)
  const place = {
    uri: source.uri,
    parameters: parametersOf(metadata),
    credentials: source.credentials === null ? undefined : box.open(source.id, source.credentials),
  }
  // the upload rejects a file over its limit
  const maxFileBytes = context.options.limits.uploadBytes + MARGIN_BYTES
  const access = { fetch, signal, workDir: join(workFolder(context.options.dataDir), newId()), maxFileBytes }
  return connector.kind === 'pages'
    ? { kind: 'pages', connection: connector.module.connect(place, access) }
    : { kind: 'files', connection: connector.module.connect(place, access) }
}

/** Removes leftovers of connections from an earlier run of the process. */
export async function clearWork(dataDir: string): Promise<void> {
  await rm(workFolder(dataDir), { recursive: true, force: true })
}

function workFolder(dataDir: string): string {
  return join(dataDir, 'tmp', 'sources')
}
