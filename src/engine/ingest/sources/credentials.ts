import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { KsError } from '../../../contract/errors.js'
import { loadDataKey } from '../../../local/keys.js'

const IV_BYTES = 12 // the size that GCM specifies (NIST SP 800-38D)
const TAG_BYTES = 16
const ALGORITHM = 'aes-256-gcm'

/** Credentials of a source's connector. */
export type Credentials = Record<string, unknown>

/** Encrypts credentials in the database and its copies; the key is stored in a separate file. */
export interface CredentialBox {
  /** @param owner id of the source, which is required to open it */
  seal(owner: string, credentials: Credentials): Uint8Array
  /** @throws KsError `unavailable` when they were sealed with another key, or changed */
  open(owner: string, sealed: Uint8Array): Credentials
}

export function createCredentialBox(dataDir: string): CredentialBox {
  let key: Uint8Array | undefined
  const getKey = () => {
    key ??= loadDataKey(dataDir)
    return key
  }
  return {
    seal(owner, credentials) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, getKey(), iv).setAAD(Buffer.from(owner))
      const sealed = Buffer.concat([cipher.update(JSON.stringify(credentials), 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed])
    },
    open(owner, sealed) {
      try {
        const bytes = Buffer.from(sealed)
        const decipher = createDecipheriv(ALGORITHM, getKey(), bytes.subarray(0, IV_BYTES))
          .setAAD(Buffer.from(owner))
          .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
        const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
        const value: unknown = JSON.parse(text.toString('utf8'))
        return typeof value === 'object' && value !== null ? { ...value } : {}
      } catch (error) {
        if (error instanceof KsError) throw error
        // no cause: it may quote decrypted text
        throw new KsError(
          'unavailable',
          `the credentials of source ${owner} cannot be read with this data directory's key`,
        )
      }
    },
  }
}
