import { usageError } from './cli-error.js'
import type { Column } from './columns.js'
import { readJsonObject } from './json-file.js'

/** What the commands on sources share. */

export const SOURCE_COLUMNS: Column[] = [
  { field: 'id', kind: 'id' },
  { field: 'name' },
  { field: 'type' },
  { field: 'status', kind: 'state' },
  { field: 'metadata.syncState.lastSyncAt', title: 'SYNCED', kind: 'time' },
  { field: 'uri' },
]
export const SOURCE_FIELDS = ['version', 'permissionScope', 'metadata', 'createdAt', 'updatedAt']

export interface MetadataFlags {
  every?: string | undefined
  daily?: string | undefined
  'utc-offset'?: string | undefined
  'max-pages'?: number | undefined
  'max-depth'?: number | undefined
  'credentials-file'?: string | undefined
}

/** The keys of a source's metadata that flags name; undefined where they name none. @throws CliError exit 2 */
export function metadataOf(flags: MetadataFlags): Record<string, unknown> | undefined {
  const syncPolicy = policyOf(flags)
  const { 'max-pages': maxPages, 'max-depth': maxDepth, 'credentials-file': file } = flags
  const parameters = {
    ...(maxPages === undefined ? {} : { maxPages }),
    ...(maxDepth === undefined ? {} : { maxDepth }),
  }
  const metadata = {
    ...(syncPolicy === undefined ? {} : { syncPolicy }),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    ...(file === undefined ? {} : { credentials: credentialsIn(file) }),
  }
  return Object.keys(metadata).length === 0 ? undefined : metadata
}

function policyOf({ every, daily, 'utc-offset': utcOffset }: MetadataFlags): Record<string, unknown> | undefined {
  if (every !== undefined) {
    const [, count, unit] = /^(\d{1,3})([hd])$/.exec(every) ?? []
    if (count === undefined)
      throw usageError(`--every must be hours or days such as 6h or 1d, received ${JSON.stringify(every)}`)
    return { everyHours: Number(count) * (unit === 'd' ? 24 : 1) }
  }
  if (daily === undefined) {
    if (utcOffset !== undefined) throw usageError('--utc-offset goes with --daily')
    return undefined
  }
  const dailyAt = daily.split(',').map((time) => time.trim())
  return { dailyAt, ...(utcOffset === undefined ? {} : { utcOffset }) }
}

/** A file that is missing or empty must not take the credentials away. @throws CliError exit 2 */
function credentialsIn(file: string): Record<string, unknown> {
  const credentials = readJsonObject(file)
  if (Object.keys(credentials).length === 0) throw usageError(`${file} must hold the credentials as a JSON object`)
  return credentials
}
