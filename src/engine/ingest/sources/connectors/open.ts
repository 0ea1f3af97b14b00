import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../../../../lib/ids.js'
import type { SafeFetch } from '../../../models/index.js'
import { parseJsonCell } from '../../../store/readable.js'
import type { SourceRow } from '../../../store/rows/sources.js'
import type { SourceParts } from '../sources.js'
import type { DriveConnection, PageConnection } from './connector.js'
import { findConnector, noConnectorError, parseParameters } from './registry.js'

/** larger than the overhead of a multipart body */
const MARGIN_BYTES = 1024 * 1024

export type OpenedSource =
  | { kind: 'pages'; connection: PageConnection }
  | { kind: 'files'; connection: DriveConnection }

/**
 * Opens the location of a source with its credentials; sends no request yet.
 *
 * @throws KsError `not-configured` when it has no connector, `invalid-request` when its location can never be read
 */
export function openSourceLocation(
  parts: SourceParts,
  source: SourceRow,
  fetch: SafeFetch,
  signal: AbortSignal,
): OpenedSource {
  const { box, context } = parts
  const metadata: Record<string, unknown> = parseJsonCell(source.metadata)
  const connector = findConnector(source.type, metadata)
  if (connector === undefined) throw noConnectorError(source.type, source.id)
  const location = {
    uri: source.uri,
    parameters: parseParameters(metadata),
    credentials: source.credentials === null ? undefined : box.open(source.id, source.credentials),
  }
  // the upload rejects a file over its limit
  const maxFileBytes = context.options.limits.uploadBytes + MARGIN_BYTES
  const access = { fetch, signal, workDir: join(getWorkFolder(context.options.dataDir), newId()), maxFileBytes }
  return connector.kind === 'pages'
    ? { kind: 'pages', connection: connector.module.connect(location, access) }
    : { kind: 'files', connection: connector.module.connect(location, access) }
}

/** Removes leftovers of connections from an earlier run of the process. */
export async function clearWorkFolders(dataDir: string): Promise<void> {
  await rm(getWorkFolder(dataDir), { recursive: true, force: true })
}

function getWorkFolder(dataDir: string): string {
  return join(dataDir, 'tmp', 'sources')
}
