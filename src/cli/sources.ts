import { EXIT } from '../contract/errors.js'
import type { SourceImportResult } from '../contract/gateway/sources.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import { pluralize } from '../lib/text/pluralize.js'
import { ExitWith, usageError } from './cli-error.js'
import type { OutputColumn } from './columns.js'
import { readJsonObject } from './json-file.js'
import type { Output } from './output.js'
import { ttyName } from './terminal.js'

export const SOURCE_COLUMNS: OutputColumn[] = [
  { field: 'id', kind: 'id' },
  { field: 'name' },
  { field: 'type' },
  { field: 'status', kind: 'state' },
  { field: 'metadata.provider', title: 'PROVIDER', isDetail: true },
  { field: 'metadata.syncState.lastSyncAt', title: 'SYNCED', kind: 'time' },
  { field: 'uri', kind: 'name' },
]

export interface SourceMetadataFlags {
  every?: string | undefined
  daily?: string | undefined
  'utc-offset'?: string | undefined
  'max-pages'?: number | undefined
  'max-depth'?: number | undefined
  'credentials-file'?: string | undefined
  provider?: string | undefined
  set?: string[] | undefined
}

/** Converts the flags to metadata keys of a source; undefined without any. @throws CliError exit 2 */
export function toSourceMetadata(flags: SourceMetadataFlags): Record<string, unknown> | undefined {
  const syncPolicy = parseSyncPolicy(flags)
  const { 'max-pages': maxPages, 'max-depth': maxDepth, 'credentials-file': file } = flags
  const { provider, set = [] } = flags
  const parameters = {
    ...Object.fromEntries(set.map(parseParameter)),
    ...omitUndefined({ maxPages, maxDepth }),
  }
  const metadata = {
    ...omitUndefined({ provider, syncPolicy }),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    ...(file === undefined ? {} : { credentials: readSourceCredentials(file) }),
  }
  return Object.keys(metadata).length === 0 ? undefined : metadata
}

/** Parses `name=value` of `--set`; an integer value becomes a number. @throws CliError exit 2 */
function parseParameter(text: string): [string, string | number] {
  const [, name, value] = /^([A-Za-z][A-Za-z0-9]{0,40})=(.+)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw usageError(`--set must be name=value such as branch=main, received ${JSON.stringify(text)}`)
  return [name, /^\d{1,9}$/.test(value) ? Number(value) : value]
}

function parseSyncPolicy({
  every,
  daily,
  'utc-offset': utcOffset,
}: SourceMetadataFlags): Record<string, unknown> | undefined {
  if (every !== undefined) {
    const [, count, unit] = /^(\d{1,3})([hd])$/.exec(every) ?? []
    if (count === undefined)
      throw usageError(`--every must be hours or days such as 6h or 1d, received ${JSON.stringify(every)}`)
    return { everyHours: Number(count) * (unit === 'd' ? 24 : 1) }
  }
  if (daily === undefined) {
    if (utcOffset !== undefined) throw usageError('--utc-offset needs --daily')
    return undefined
  }
  const dailyAt = daily.split(',').map((time) => time.trim())
  return { dailyAt, ...omitUndefined({ utcOffset }) }
}

/**
 * Reads the credentials file. A missing or empty file is an error, since it would remove stored credentials. @throws
 * CliError exit 2
 */
function readSourceCredentials(file: string): Record<string, unknown> {
  const credentials = readJsonObject(file)
  if (Object.keys(credentials).length === 0) throw usageError(`${file} must contain the credentials as a JSON object`)
  return credentials
}

/** Maximum number of pages or files in one request. */
export const MAX_IMPORT_BATCH = 200

/** Imports items in as many requests as needed. */
export async function importInBatches<T>(
  items: readonly T[],
  send: (batch: T[]) => Promise<SourceImportResult>,
): Promise<SourceImportResult> {
  const total: SourceImportResult = { documents: [], failed: [], skipped: [] }
  for (let start = 0; start < items.length; start += MAX_IMPORT_BATCH) {
    const { documents, failed, skipped } = await send(items.slice(start, start + MAX_IMPORT_BATCH))
    total.documents.push(...documents)
    total.failed.push(...failed)
    total.skipped.push(...skipped)
  }
  return total
}

/** Prints the result of an import. @throws ExitWith if anything failed */
export async function printImport(out: Output, result: SourceImportResult): Promise<void> {
  const { documents, failed, skipped } = result
  if (out.isJson) out.json(result)
  else {
    await out.list(documents, {
      columns: [
        { field: 'documentAssetId', title: 'DOCUMENT', kind: 'id' },
        { field: 'filename', kind: 'name' },
      ],
      empty: 'Nothing was imported.',
    })
    if (skipped.length > 0) out.note(`${pluralize(skipped.length, 'page')} not edited since the last import`)
    for (const { filename, error } of failed) out.warn(`ks: ${ttyName(filename)}: ${error}`)
  }
  if (failed.length > 0) throw new ExitWith(documents.length + skipped.length === 0 ? EXIT.failed : EXIT.partial)
}
