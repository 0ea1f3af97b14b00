import { KsError } from '../../../contract/errors.js'
import type { AddressRule } from '../../models/index.js'
import type { Credentials } from './credentials.js'
import { parseSyncPolicy, type SyncPolicy } from './sync-policy.js'

/** Metadata of a source from a client, checked. */
export interface SourceContent {
  /** only the client's keys */
  metadata: Record<string, unknown>
  /** undefined: not given, so that stored ones are kept */
  credentials: Credentials | null | undefined
  policy: SyncPolicy | undefined
}

export type SourceType = 'upload' | 'object-storage' | 'connector' | 'web'

/** Only the daemon writes these; an update with them changes nothing. */
const PLATFORM_KEYS = new Set(['tenantId', 'syncState', 'sync', 'crawled', 'imported', 'importedFiles', 'credentials'])

export const CRAWL_LIMITS = {
  maxPages: { default: 200, max: 5000 },
  maxDepth: { default: 5, max: 20 },
  missingAfter: { default: 1, max: 100 },
} as const

/** @throws KsError `invalid-sync-policy`, `invalid-request` */
export function parseContent(type: SourceType, metadata: Readonly<Record<string, unknown>>): SourceContent {
  const policy = parseSyncPolicy(metadata)
  if (type === 'web' && isBuiltinCrawl(metadata)) parseCrawlLimits(metadata)
  const credentials = parseCredentials(metadata.credentials)
  const own = Object.entries(metadata).filter(([key]) => !PLATFORM_KEYS.has(key))
  return { metadata: Object.fromEntries(own), credentials, policy }
}

/** Whether the built-in crawler reads a web source: one may name an unknown plugin or provider. */
export function isBuiltinCrawl({ pluginId = 'builtin', provider = 'web' }: Readonly<Record<string, unknown>>): boolean {
  return pluginId === 'builtin' && provider === 'web'
}

/** Values are checked where they are used. The message contains no value: it may be the secret itself. */
function parseCredentials(value: unknown): Credentials | null | undefined {
  if (value === undefined || value === null) return value
  if (typeof value !== 'object' || Array.isArray(value))
    throw new KsError('invalid-request', 'metadata.credentials must be an object or null')
  const credentials: Credentials = { ...value }
  return Object.keys(credentials).length === 0 ? null : credentials
}

/** The headers that authenticate at a web source. @throws KsError `invalid-request` */
export function createAuthHeaders(credentials: Credentials | undefined): Record<string, string> {
  if (credentials === undefined || Object.keys(credentials).length === 0) return {}
  const { token, username, password, ...others } = credentials
  if (Object.keys(others).length > 0 || (token === undefined) === (username === undefined))
    throw new KsError('invalid-request', 'metadata.credentials of a web source must be {token} or {username, password}')
  if (token !== undefined) return { authorization: `Bearer ${assertHeaderText(token, 'token')}` }
  const pair = `${assertHeaderText(username, 'username')}:${assertHeaderText(password ?? '', 'password')}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

function assertHeaderText(value: unknown, name: string): string {
  if (typeof value !== 'string' || !/^[\x20-\x7e]*$/.test(value))
    throw new KsError('invalid-request', `metadata.credentials.${name} must be a text of ASCII characters`)
  return value
}

/** Limits of a crawl: `metadata.parameters` of a web source. @throws KsError `invalid-request` */
export function parseCrawlLimits(
  metadata: Readonly<Record<string, unknown>>,
): Record<keyof typeof CRAWL_LIMITS, number> {
  const value = metadata.parameters ?? {}
  if (typeof value !== 'object' || Array.isArray(value))
    throw new KsError('invalid-request', 'metadata.parameters of a web source must be an object')
  const fields = new Map<string, unknown>(Object.entries(value))
  const read = (name: keyof typeof CRAWL_LIMITS, min: number) => {
    const { default: defaultValue, max } = CRAWL_LIMITS[name]
    const limit = fields.get(name) ?? defaultValue
    if (typeof limit === 'number' && Number.isInteger(limit) && limit >= min && limit <= max) return limit
    const received = (JSON.stringify(limit) ?? 'nothing').slice(0, 100)
    const rule = `an integer between ${min} and ${max}`
    throw new KsError('invalid-request', `metadata.parameters.${name} must be ${rule}, received ${received}`)
  }
  return { maxPages: read('maxPages', 1), maxDepth: read('maxDepth', 0), missingAfter: read('missingAfter', 0) }
}

/**
 * Checks the uri of a source. A web source with an invalid URL is accepted: its crawl fails.
 *
 * @throws KsError `invalid-request` for a uri with a password, and for an address that is never fetched
 */
export function checkUri(type: SourceType, uri: string, mayDial: AddressRule): void {
  if (!URL.canParse(uri)) return
  const url = new URL(uri)
  if (url.username !== '' || url.password !== '')
    throw new KsError('invalid-request', 'uri must contain no credentials: they belong in metadata.credentials')
  if (type !== 'web') return
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new KsError(
      'invalid-request',
      `uri of a web source must be an http or https URL, received ${JSON.stringify(uri.slice(0, 200))}`,
    )
  assertPublicAddress(uri, mayDial)
}

/** @throws KsError `invalid-request` for an IP address that is never fetched */
export function assertPublicAddress(uri: string, mayDial: AddressRule): void {
  const { hostname } = new URL(uri)
  const isAddressLiteral = /^\[|^[\d.]+$/.test(hostname)
  if (isAddressLiteral && !mayDial(hostname))
    throw new KsError(
      'invalid-request',
      `uri must not name an address outside the public internet, received ${JSON.stringify(uri.slice(0, 200))}`,
    )
}
