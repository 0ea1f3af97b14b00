import type { Client } from '../client/client.js'
import { ApiError } from '../client/errors.js'
import { LIMITS } from '../contract/limits.js'
import { bytes } from './units.js'

const asked = new WeakMap<Client, Promise<number>>()

/**
 * The largest file that the service takes, in bytes. It is known before a file is hashed: a sparse file of a terabyte
 * costs nothing to make and hours to read. A service that does not say it has the limit of the contract.
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

/** Why a file is not sent; undefined for one that may be. */
export function overLimit(size: number, limit: number): string | undefined {
  return size > limit ? `${bytes(size)} is over the ${bytes(limit)} that the service takes` : undefined
}
