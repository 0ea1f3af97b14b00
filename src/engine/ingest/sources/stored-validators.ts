import { createHash } from 'node:crypto'
import type { Validators } from '../../models/index.js'
import type { Driver } from '../../store/driver.js'
import { ObjectStore } from '../../store/objects.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import type { SourceRow } from '../../store/rows/sources.js'
import { listPageBytes, setValidators } from '../rows/source-documents.js'

/** Updates of one transaction. */
const STEP_ROWS = 500
/** Age after which content is requested without validators: a wrong server must not be trusted for ever. */
const VALIDATORS_MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000

/** Validators of a document whose bytes a server sent. */
export interface StoredValidators extends Validators {
  /** media type and charset of the header that came with the bytes */
  mediaType: string
  charset?: string
  /** when the bytes were received, in milliseconds */
  at: number
  /** `hashReadSettings` of the source at that time */
  reading: string
}

export interface StoredPage {
  objectKey: string
  sha256: string
  kept: StoredValidators
}

/**
 * Hash of the settings that determine how a source is read. With other settings or credentials, content may differ in
 * spite of equal validators.
 */
export function hashReadSettings(source: Pick<SourceRow, 'uri' | 'metadata' | 'credentials'>): string {
  const { pluginId, provider, parameters }: Record<string, unknown> = parseJsonCell(source.metadata)
  const hash = createHash('sha256').update(JSON.stringify([source.uri, pluginId, provider, parameters]))
  return hash
    .update(source.credentials ?? '')
    .digest('hex')
    .slice(0, 32)
}

/** The validators in a document's row, where they are still valid. */
export function parseStoredValidators(text: string | null, reading: string, now: number): StoredValidators | undefined {
  if (text === null) return undefined
  const kept: StoredValidators = parseJsonCell(text)
  const age = now - kept.at
  return kept.reading === reading && age >= 0 && age < VALIDATORS_MAX_AGE_MS ? kept : undefined
}

/** Parsed pages of a web source that can be requested with validators; by address. */
export function* listStoredPages(source: SourceRow, now: number): Read<Map<string, StoredPage>> {
  const rows = yield* listPageBytes(source)
  const reading = hashReadSettings(source)
  // of a page that is being replaced the newer document counts
  const newest = new Map(rows.map((row) => [row.url, row]))
  const pages = new Map<string, StoredPage>()
  for (const [url, { object_key: objectKey, sha256, validators, parser_status: status }] of newest) {
    const kept = status === 'parsed' ? parseStoredValidators(validators, reading, now) : undefined
    if (kept !== undefined) pages.set(url, { objectKey, sha256, kept })
  }
  return pages
}

/** The bytes of a document; undefined where they are missing or damaged. */
export async function readStoredBytes(
  objects: ObjectStore,
  { objectKey, sha256 }: Pick<StoredPage, 'objectKey' | 'sha256'>,
): Promise<Buffer | undefined> {
  // missing or unreadable bytes are requested from the server
  const bytes = await objects.bytes(objectKey).catch(() => undefined)
  return bytes !== undefined && hashSha256(bytes) === sha256 ? bytes : undefined
}

/** Whether the bytes of a document are intact. */
export async function hasIntactBytes(objects: ObjectStore, tenant: string, sha256: string): Promise<boolean> {
  const measured = await objects.measure(ObjectStore.key(tenant, sha256)).catch(() => undefined)
  return measured?.sha256 === sha256
}

export function hashSha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Stores the validators of documents; undefined removes earlier ones. */
export async function storeValidators(
  db: Driver,
  source: Pick<SourceRow, 'tenant' | 'id' | 'space_key'>,
  validatorsById: ReadonlyMap<string, StoredValidators | undefined>,
): Promise<void> {
  const entries = [...validatorsById]
  for (let start = 0; start < entries.length; start += STEP_ROWS)
    await db.write(function* () {
      for (const [id, kept] of entries.slice(start, start + STEP_ROWS))
        yield* setValidators(source, id, kept === undefined ? null : JSON.stringify(kept))
    })
}
