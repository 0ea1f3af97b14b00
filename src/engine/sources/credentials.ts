import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { KsError } from '../../contract/errors.js'
import { loadDataKey } from '../../local/keys.js'

const IV_BYTES = 12 // what GCM is specified for (NIST SP 800-38D)
const TAG_BYTES = 16
const ALGORITHM = 'aes-256-gcm'

/** What a source's connector signs in with. */
export type Credentials = Record<string, unknown>

/** Keeps credentials unreadable in the database and its copies; the key is a file of its own beside it. */
export interface CredentialBox {
  /** @param owner id of the source: what was sealed for one is not opened for another */
  seal(owner: string, credentials: Credentials): Uint8Array
  /** @throws KsError `unavailable` when they were sealed with another key, or changed */
  open(owner: string, sealed: Uint8Array): Credentials
}

export function createCredentialBox(dataDir: string): CredentialBox {
  let key: Uint8Array | undefined
  const loaded = () => {
    key ??= loadDataKey(dataDir)
    return key
  }
  return {
    seal(owner, credentials) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(ALGORITHM, loaded(), iv).setAAD(Buffer.from(owner))
      const sealed = Buffer.concat([cipher.update(JSON.stringify(credentials), 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed])
    },
    open(owner, sealed) {
      try {
        const bytes = Buffer.from(sealed)
        const decipher = createDecipheriv(ALGORITHM, loaded(), bytes.subarray(0, IV_BYTES))
          .setAAD(Buffer.from(owner))
          .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
        const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
        const value: unknown = JSON.parse(text.toString('utf8'))
        return typeof value === 'object' && value !== null ? { ...value } : {}
      } catch (error) {
        if (error instanceof KsError) throw error
        // the cause stays behind: it may quote what was decrypted
        throw new KsError(
          'unavailable',
          `the credentials of source ${owner} cannot be read with this data directory's key`,
        )
      }
    },
  }
}
