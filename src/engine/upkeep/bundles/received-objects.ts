import { Readable } from 'node:stream'
import { newId } from '../../../lib/ids.js'
import { type EngineContext, storeObjects, writeNothing } from '../../library/index.js'
import { ObjectStore, type StagedObject } from '../../store/objects.js'
import type { Write } from '../../store/program.js'
import { invalidBundle } from './format.js'
import { BUNDLE_LIMITS } from './limits.js'
import { type BundleLine, toCheckedNumber, toCheckedText } from './rows.js'

/** Objects of a bundle between their arrival and the rows that refer to them. */
export class ReceivedObjects {
  readonly #context: EngineContext
  readonly #tenant: string
  /** staged objects by their hashes */
  readonly #staged = new Map<string, StagedObject>()
  /** count of received objects */
  count = 0

  constructor(context: EngineContext, tenant: string) {
    this.#context = context
    this.#tenant = tenant
  }

  /** @throws KsError `invalid-bundle` where the bytes do not match the hash */
  async receive(sha256: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void> {
    const { objects, options } = this.#context
    const stagedBytes = [...this.#staged.values()].reduce((sum, object) => sum + object.size, 0)
    if (this.#staged.has(sha256)) throw invalidBundle(`has object ${sha256} twice`)
    if (this.#staged.size >= BUNDLE_LIMITS.pageDocuments || stagedBytes > BUNDLE_LIMITS.pageBytes)
      throw invalidBundle('has more consecutive objects than a page of documents refers to')
    const { uploadBytes } = options.limits
    const staged = await objects.stage(newId(), Readable.from(content), uploadBytes, `objects/${sha256}`)
    this.#staged.set(sha256, staged)
    if (staged.sha256 !== sha256 || staged.size !== size) throw invalidBundle(`has object ${sha256} with other bytes`)
    this.count += 1
  }

  /** Publishes the objects that lines refer to, and commits the lines together with them. */
  async insertWithObjects<T>(lines: readonly BundleLine[], insert: () => Write<T>): Promise<T> {
    const tenant = this.#tenant
    const hashes = [...new Set(lines.map((line) => toCheckedText(line.sha256)))]
    const incoming = hashes.map((sha256) => {
      const staged = this.#staged.get(sha256)
      if (staged === undefined) throw invalidBundle(`refers to object ${sha256}, which does not precede it`)
      return { staged, key: ObjectStore.key(tenant, sha256) }
    })
    for (const line of lines)
      if (this.#staged.get(toCheckedText(line.sha256))?.size !== toCheckedNumber(line.size_bytes))
        throw invalidBundle(`refers to object ${toCheckedText(line.sha256)} with another size`)
    const { db } = this.#context
    const commit = (markReferenced: () => Write<void>) =>
      db.write(function* () {
        yield* markReferenced()
        return yield* insert()
      })
    const result = await storeObjects(this.#context, {
      tenant,
      incoming,
      begin: writeNothing,
      isUnreferenced: true,
      commit,
    })
    for (const sha256 of hashes) this.#staged.delete(sha256)
    return result
  }

  /** @throws KsError `invalid-bundle` where received objects are not referred to */
  assertAllReferenced(): void {
    const [left] = this.#staged.keys()
    if (left !== undefined) throw invalidBundle(`has object ${left} without a reference`)
  }

  /** Removes received objects that were not published. */
  async discard(): Promise<void> {
    for (const { id } of this.#staged.values()) await this.#context.objects.discard(id)
  }
}
