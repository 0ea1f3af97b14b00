import { KsError } from '../contract/errors.js'
import type { RouteDefinition } from '../contract/route.js'
import type { DiskRoom } from '../local/disk-room.js'

/** seconds after which a client may ask again whether there is room */
const RETRY_SECONDS = 5

/**
 * What is not refused while the disk is full although it writes: it frees room or reads, or it ends what goes on. The
 * room that is kept for that is enough for a few rows.
 */
const GOES_ON: ReadonlySet<string> = new Set([
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
 * Looks for room before a request that may write. What would add data to a full disk is refused at once, so that the last
 * of the room serves those who read: their queries leave traces.
 *
 * @throws KsError `storage-full`
 */
export async function admitWrite(
  room: DiskRoom | undefined,
  { id, method, scope }: Pick<RouteDefinition, 'id' | 'method' | 'scope'>,
): Promise<void> {
  if (room === undefined || method === 'GET') return
  if (await room.hasRoom()) return
  if (method === 'DELETE' || GOES_ON.has(id) || !(scope === 'write' || scope === 'application')) return
  const { missingBytes } = room.state()
  const missing = `${Math.ceil(missingBytes / 1024 / 1024)} MB more must be free`
  throw new KsError('storage-full', `the disk of the data directory is full: ${missing}`, { retryAfter: RETRY_SECONDS })
}
