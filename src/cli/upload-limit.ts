import type { Client } from '../client/client.js'
import { ApiError } from '../client/errors.js'
import { LIMITS } from '../contract/limits.js'
import { formatBytes } from './units.js'

type LimitService = Pick<Client, 'request'>

const limitsByClient = new WeakMap<LimitService, Promise<number>>()

/**
 * The maximum file size of the service in bytes. Checked before a file is hashed: a sparse file of a terabyte is cheap
 * to create and takes hours to read. A service that does not report it has the limit of the contract.
 */
export function getUploadLimit(client: LimitService): Promise<number> {
  const cached = limitsByClient.get(client)
  if (cached !== undefined) return cached
  const limit = client.request('GET /daemon/status', { query: {} }).then(
    ({ limits }: { limits?: { uploadBytes: number } }) => limits?.uploadBytes ?? LIMITS.uploadBytes,
    (error: unknown) => {
      if (error instanceof ApiError) return LIMITS.uploadBytes
      limitsByClient.delete(client)
      throw error
    },
  )
  limitsByClient.set(client, limit)
  return limit
}

/** Why a file is too large to upload; undefined if it is not. Sizes in bytes. */
export function describeOverLimit(size: number, maxSize: number): string | undefined {
  return size > maxSize ? `${formatBytes(size)} is over the upload limit of ${formatBytes(maxSize)}` : undefined
}
