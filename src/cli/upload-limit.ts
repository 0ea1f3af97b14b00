import type { Client } from '../client/client.js'
import { ApiError } from '../client/errors.js'
import { LIMITS } from '../contract/limits.js'
import { bytes } from './units.js'

const asked = new WeakMap<Client, Promise<number>>()

/**
 * The maximum file size of the service in bytes. Checked before a file is hashed: a sparse file of a terabyte is cheap
 * to create and takes hours to read. A service that does not report it has the limit of the contract.
 */
export function uploadLimit(client: Client): Promise<number> {
  const known = asked.get(client)
  if (known !== undefined) return known
  const limit = client.request('GET /daemon/status', { query: {} }).then(
    ({ limits }: { limits?: { uploadBytes: number } }) => limits?.uploadBytes ?? LIMITS.uploadBytes,
    (error: unknown) => {
      if (error instanceof ApiError) return LIMITS.uploadBytes
      asked.delete(client)
      throw error
    },
  )
  asked.set(client, limit)
  return limit
}

/** Why a file is too large to upload; undefined if it is not. */
export function overLimit(size: number, limit: number): string | undefined {
  return size > limit ? `${bytes(size)} is over the upload limit of ${bytes(limit)}` : undefined
}
