import { KsError } from '../../../../contract/errors.js'
import type { AddressRule } from '../../../models/index.js'
import { assertPublicAddress, isBuiltinCrawl, type SourceType } from '../content.js'
import type { ConnectorModule, DriveConnection, PageConnection, SourceLocation } from './connector.js'
import { gitConnector } from './git.js'
import { notionConnector } from './notion.js'
import { s3Connector } from './s3.js'
import { webdavConnector } from './webdav.js'

/** Connectors by `metadata.provider`. */
const PAGE_CONNECTORS = new Map<unknown, ConnectorModule<PageConnection>>([
  ['notion', notionConnector],
  ['git', gitConnector],
])
const DRIVE_CONNECTORS = new Map<unknown, ConnectorModule<DriveConnection>>([
  ['s3', s3Connector],
  ['webdav', webdavConnector],
])

type SourceMetadata = Readonly<Record<string, unknown>>

export type Connector =
  | { kind: 'pages'; module: ConnectorModule<PageConnection> }
  | { kind: 'files'; module: ConnectorModule<DriveConnection> }

/** The connector of a source: its `metadata.provider`, of the plugin `builtin`; undefined where there is none. */
export function findConnector(type: SourceType, metadata: SourceMetadata): Connector | undefined {
  const { pluginId = 'builtin', provider } = metadata
  if (pluginId !== 'builtin') return undefined
  const pages = type === 'connector' ? PAGE_CONNECTORS.get(provider) : undefined
  if (pages !== undefined) return { kind: 'pages', module: pages }
  const files = type === 'object-storage' ? DRIVE_CONNECTORS.get(provider) : undefined
  return files === undefined ? undefined : { kind: 'files', module: files }
}

/** Whether the daemon can read the source, and so sync it. */
export function isSyncable(type: SourceType, metadata: SourceMetadata): boolean {
  return type === 'web' ? isBuiltinCrawl(metadata) : findConnector(type, metadata) !== undefined
}

/** @throws KsError `not-configured` that lists the available ones */
export function noConnectorError(type: SourceType, id: string): KsError {
  if (type === 'web')
    return new KsError(
      'not-configured',
      `source ${id} has a crawler that this daemon does not support: metadata.pluginId must be builtin, metadata.provider web`,
    )
  const known = [...(type === 'connector' ? PAGE_CONNECTORS : DRIVE_CONNECTORS).keys()].join(', ')
  return new KsError(
    'not-configured',
    `source ${id} has no connector that this daemon supports: metadata.provider must be one of ${known}`,
  )
}

/** `metadata.parameters`. @throws KsError `invalid-request` */
export function parseParameters(metadata: SourceMetadata): ReadonlyMap<string, unknown> {
  const value = metadata.parameters ?? {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw new KsError('invalid-request', 'metadata.parameters must be an object')
  return new Map<string, unknown>(Object.entries(value))
}

/**
 * Checks the location of a source with a connector, as a client gives it.
 *
 * @throws KsError `invalid-request`
 */
export function checkConnector(
  type: SourceType,
  metadata: SourceMetadata,
  { uri, credentials }: Pick<SourceLocation, 'uri' | 'credentials'>,
  mayDial: AddressRule,
): void {
  const connector = findConnector(type, metadata)
  if (connector === undefined) return
  connector.module.check({ uri, credentials, parameters: parseParameters(metadata) })
  assertPublicAddress(uri, mayDial)
}
