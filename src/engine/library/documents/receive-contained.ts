import { PassThrough } from 'node:stream'
import { newId } from '../../../lib/ids.js'
import type { ContainedSink } from '../../store/compiled.js'
import { ObjectStore, type StagedObject } from '../../store/objects.js'
import type { Write } from '../../store/program.js'
import { markReferenced } from '../../store/rows/objects.js'
import type { EngineContext } from '../context.js'
import { storeObjects, writeNothing } from '../objects/receive.js'

/** number of files that become objects together */
const BATCH_SIZE = 64

/** A file that is being received. */
interface OpenContainedFile {
  id: string
  content: PassThrough
  staged: Promise<StagedObject>
}

/**
 * Receives the bytes of contained files during parsing, and stores them as objects that no row references yet: if no
 * row comes to reference them, since parsing failed or the process died, the clean-up removes them.
 */
export class ContainedFileReceiver implements ContainedSink {
  readonly #context: EngineContext
  readonly #tenant: string
  readonly #open = new Map<number, OpenContainedFile>()
  #staged: StagedObject[] = []
  /** the lives with which objects were stored, by their keys */
  readonly #lives = new Map<string, string>()

  constructor(context: EngineContext, tenant: string) {
    this.#context = context
    this.#tenant = tenant
  }

  begin(index: number): void {
    // an open file came from a process that died
    this.#open.get(index)?.content.destroy()
    this.#open.delete(index)
  }

  async write(index: number, bytes: Uint8Array): Promise<void> {
    const { content, staged } = this.#findOrOpen(index)
    // the file was rejected: its rest must not pass for the complete file
    if (content.destroyed) return void (await staged)
    if (!content.write(bytes) && !content.destroyed)
      await new Promise<void>((resolve) => {
        content.once('drain', resolve)
        content.once('close', resolve)
      })
  }

  async end(index: number, isComplete: boolean): Promise<void> {
    const { content, staged, id } = this.#findOrOpen(index)
    this.#open.delete(index)
    if (!isComplete) {
      content.destroy()
      await staged.catch(() => undefined)
      await this.#context.objects.discard(id)
      return
    }
    content.end()
    this.#staged.push(await staged)
    if (this.#staged.length >= BATCH_SIZE) await this.#storeStaged()
  }

  /** Stores the last files as objects. */
  async finish(): Promise<void> {
    await this.#storeStaged()
    await this.discard()
  }

  /** Removes incompletely received files. */
  async discard(): Promise<void> {
    const leftovers = [...this.#open.values(), ...this.#staged]
    for (const { content } of this.#open.values()) content.destroy()
    await Promise.all([...this.#open.values()].map(({ staged }) => staged.catch(() => undefined)))
    this.#open.clear()
    this.#staged = []
    await Promise.all(leftovers.map(({ id }) => this.#context.objects.discard(id)))
  }

  /** Part of the transaction that references objects. @throws ObjectRemovedError if one was removed meanwhile */
  *markReferenced(keys: readonly string[]): Write<void> {
    const lives = [...new Set(keys)].sort().map((key): [string, string] => [key, this.#lives.get(key) ?? ''])
    yield* markReferenced(this.#tenant, lives)
  }

  #findOrOpen(index: number): OpenContainedFile {
    const existing = this.#open.get(index)
    if (existing !== undefined) return existing
    const { objects, options } = this.#context
    const id = newId()
    const content = new PassThrough()
    const staged = objects.stage(id, content, options.limits.uploadBytes, 'a file within a file')
    // awaited when the file has ended; until then a failure must not count as unhandled
    staged.catch(() => content.destroy())
    const open = { id, content, staged }
    this.#open.set(index, open)
    return open
  }

  async #storeStaged(): Promise<void> {
    const staged = this.#staged
    if (staged.length === 0) return
    this.#staged = []
    const tenant = this.#tenant
    const incoming = staged.map((object) => ({ staged: object, key: ObjectStore.key(tenant, object.sha256) }))
    await storeObjects(this.#context, {
      tenant,
      incoming,
      begin: writeNothing,
      isUnreferenced: true,
      commit: async (_markReferenced, _made, lives) => {
        for (const [key, life] of lives) this.#lives.set(key, life)
      },
    })
  }
}
