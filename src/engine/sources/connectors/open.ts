import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../../../lib/ids.js'
import type { SafeFetch } from '../../egress/safe-fetch.js'
import type { SourceRow } from '../../rows/sources.js'
import { fromCell } from '../../storage/readable.js'
import type { SourceParts } from '../sources.js'
import type { DriveConnection, PageConnection } from './connector.js'
import { connectorOf, noConnector, parametersOf } from './registry.js'

/** more than one part of a body has */
const MARGIN_BYTES = 1024 * 1024

export type Opened = { kind: 'pages'; connection: PageConnection } | { kind: 'files'; connection: DriveConnection }

/**
 * Opens the place of a source with its credentials; nothing is asked of it yet.
 *
 * @throws KsError `not-configured` when no connector serves it, `invalid-request` when its place can never be read
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
  // a file over the limit of uploads is for the upload to refuse
  const maxFileBytes = context.options.limits.uploadBytes + MARGIN_BYTES
  const access = { fetch, signal, workDir: join(workFolder(context.options.dataDir), newId()), maxFileBytes }
  return connector.kind === 'pages'
    ? { kind: 'pages', connection: connector.module.connect(place, access) }
    : { kind: 'files', connection: connector.module.connect(place, access) }
}

/** Removes what connections of an earlier run of the process left. */
export async function clearWork(dataDir: string): Promise<void> {
  await rm(workFolder(dataDir), { recursive: true, force: true })
}

function workFolder(dataDir: string): string {
  return join(dataDir, 'tmp', 'sources')
}
