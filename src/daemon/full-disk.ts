import { KsError } from '../contract/errors.js'
import type { RouteDefinition } from '../contract/route.js'
import type { DiskReserve } from '../local/disk-reserve.js'

/** Seconds after which a client may retry. */
const RETRY_SECONDS = 5

/**
 * Operations allowed on a full disk although they write: they free space or read, or they end running work. The
 * reserved space is enough for their few rows.
 */
const ALLOWED_ON_FULL_DISK: ReadonlySet<string> = new Set([
  'checkDocuments',
  'gcExecute',
  'updateTenantRetentionPolicy',
  'updateSpaceRetentionPolicy',
  'testSource',
  'sendChatMessage',
  'stopChatMessage',
  'textToAudio',
  'audioToText',
])

/**
 * Checks the free space before a request that may write. Requests that add data to a full disk are rejected at once, so
 * that the remaining space serves readers, whose queries write traces.
 *
 * @throws KsError `storage-full`
 */
export async function admitWrite(
  diskReserve: DiskReserve | undefined,
  { id, method, scope }: Pick<RouteDefinition, 'id' | 'method' | 'scope'>,
): Promise<void> {
  if (diskReserve === undefined || method === 'GET') return
  if (await diskReserve.hasSpace()) return
  if (method === 'DELETE' || ALLOWED_ON_FULL_DISK.has(id) || !(scope === 'write' || scope === 'application')) return
  const { missingBytes } = diskReserve.getState()
  const missing = `${Math.ceil(missingBytes / 1024 / 1024)} MB more must be free`
  throw new KsError('storage-full', `the disk of the data directory is full: ${missing}`, { retryAfter: RETRY_SECONDS })
}
