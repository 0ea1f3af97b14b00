import { KsError } from '../../../contract/errors.js'
import type { AddressRule } from '../../egress/addresses.js'
import { isOwnCrawl, type SourceType } from '../content.js'
import type { ConnectorModule, DriveConnection, PageConnection, Place } from './connector.js'
import { gitConnector } from './git.js'
import { notionConnector } from './notion.js'
import { s3Connector } from './s3.js'
import { webdavConnector } from './webdav.js'

/** Connectors by `metadata.provider`. */
const PAGES = new Map<unknown, ConnectorModule<PageConnection>>([
  ['notion', notionConnector],
  ['git', gitConnector],
])
const DRIVES = new Map<unknown, ConnectorModule<DriveConnection>>([
  ['s3', s3Connector],
  ['webdav', webdavConnector],
])

type Metadata = Readonly<Record<string, unknown>>

export type Connector =
  | { kind: 'pages'; module: ConnectorModule<PageConnection> }
  | { kind: 'files'; module: ConnectorModule<DriveConnection> }

/** The connector of a source: its `metadata.provider`, of the plugin `builtin`; undefined where there is none. */
export function connectorOf(type: SourceType, metadata: Metadata): Connector | undefined {
  const { pluginId = 'builtin', provider } = metadata
  if (pluginId !== 'builtin') return undefined
  const pages = type === 'connector' ? PAGES.get(provider) : undefined
  if (pages !== undefined) return { kind: 'pages', module: pages }
  const files = type === 'object-storage' ? DRIVES.get(provider) : undefined
  return files === undefined ? undefined : { kind: 'files', module: files }
}

/** Whether the daemon can read the source. */
export function isSynced(type: SourceType, metadata: Metadata): boolean {
  return type === 'web' ? isOwnCrawl(metadata) : connectorOf(type, metadata) !== undefined
}

/** @throws KsError `not-configured` that lists the available ones */
export function noConnector(type: SourceType, id: string): KsError {
  if (type === 'web')
    return new KsError(
      'not-configured',
      `source ${id} has a crawler that this daemon does not support: metadata.pluginId must be builtin, metadata.provider web`,
    )
  const known = [...(type === 'connector' ? PAGES : DRIVES).keys()].join(', ')
  return new KsError(
    'not-configured',
    `source ${id} has no connector that this daemon supports: metadata.provider must be one of ${known}`,
  )
}

/** `metadata.parameters`. @throws KsError `invalid-request` */
export function parametersOf(metadata: Metadata): ReadonlyMap<string, unknown> {
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
  metadata: Metadata,
  { uri, credentials }: Pick<Place, 'uri' | 'credentials'>,
  mayDial: AddressRule,
): void {
  const connector = connectorOf(type, metadata)
  if (connector === undefined) return
  connector.module.check({ uri, credentials, parameters: parametersOf(metadata) })
  const { hostname } = new URL(uri)
  if (/^\[|^[\d.]+$/.test(hostname) && !mayDial(hostname))
    throw new KsError(
      'invalid-request',
      `uri must not name an address outside the public internet, received ${JSON.stringify(uri.slice(0, 200))}`,
    )
}
