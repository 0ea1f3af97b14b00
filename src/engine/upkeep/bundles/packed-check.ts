import type { Hash } from 'node:crypto'
import { createInflate, type Inflate } from 'node:zlib'
import { JsonReader, JsonTooLarge } from '../../../lib/json/reader.js'
import { hashTextParts, STORED_LIMITS, type StoredPart, walkJson } from '../../readers/index.js'
import { hashChunks } from '../../store/object-s3-read.js'
import { VALUE_LIMITS } from '../../store/packed.js'
import type { BundleChecks } from './checks.js'

/** Hashes of parts, for comparison with the hash of their version. */
export interface PartHashes {
  /** of the text of the artifact; the JSON of the outline follows */
  text?: Hash
  /** of the text and the outline, where the artifact arrived before the outline */
  complete?: string
}

/** A part that does not match its schema. */
class SchemaMismatch extends Error {}

/**
 * Checks a packed part of a version against its schema while it arrives, with one element, item or section in memory at
 * a time.
 */
export class PackedCheck {
  readonly #inflate: Inflate = createInflate({ chunkSize: 64 * 1024 })
  readonly #problem: Promise<string | undefined>
  #continues = false

  constructor(part: StoredPart, checks: BundleChecks, hashes: PartHashes) {
    this.#problem = checkPart(part, this.#inflate, checks, hashes).then(
      () => undefined,
      (error: unknown) => {
        this.#inflate.destroy()
        return toProblem(error)
      },
    )
    this.#inflate.on('error', () => undefined) // the check receives it as well
  }

  async add(packed: Uint8Array): Promise<void> {
    if (packed.length === 0) return
    if (this.#inflate.destroyed) this.#continues = true
    if (this.#inflate.destroyed || this.#inflate.write(packed)) return
    await Promise.race([new Promise((resolve) => this.#inflate.once('drain', resolve)), this.#problem])
  }

  /** @returns what is wrong with it, if anything */
  async end(): Promise<string | undefined> {
    this.#inflate.end()
    try {
      return (await this.#problem) ?? (this.#continues ? 'continues after its end' : undefined)
    } finally {
      this.#inflate.destroy()
    }
  }
}

async function checkPart(part: StoredPart, inflate: Inflate, checks: BundleChecks, hashes: PartHashes): Promise<void> {
  const assertFits = (value: unknown) => {
    const problem = checks.part(part, value)
    if (problem !== undefined) throw new SchemaMismatch(problem)
  }
  if (part === 'artifact') return await checkArtifact(createReader(limitSize(part, inflate)), assertFits, hashes)
  if (part === 'items') return await checkItems(createReader(limitSize(part, inflate)), assertFits)
  const hash = hashes.text
  const chunks = hash === undefined ? limitSize(part, inflate) : hashChunks(limitSize(part, inflate), hash)
  const close = (fields: object) => {
    assertFits(fields)
    return undefined
  }
  for await (const _ of walkJson(createReader(chunks), { close }));
  if (hash !== undefined) hashes.complete = hash.digest('hex')
}

function createReader(chunks: AsyncIterable<Uint8Array>): JsonReader {
  return new JsonReader(chunks, VALUE_LIMITS)
}

async function checkArtifact(
  json: JsonReader,
  assertFits: (value: unknown) => void,
  hashes: PartHashes,
): Promise<void> {
  const seen = new Set<string>()
  for await (const key of json.readKeys()) {
    if (seen.has(key)) throw new SchemaMismatch(`has ${key} twice`)
    seen.add(key)
    if (key === 'text') hashes.text = await hashTextParts(json.readText())
    else if (key === 'elements') for await (const _ of json.readMembers()) assertFits(await json.readValue())
    else throw new SchemaMismatch(`has a key ${JSON.stringify(key.slice(0, 40))}`)
  }
  await json.expectEnd()
  if (seen.size < 2) throw new SchemaMismatch('does not have a text and elements')
}

async function checkItems(json: JsonReader, assertFits: (value: unknown) => void): Promise<void> {
  for await (const _ of json.readMembers()) assertFits(await json.readValue())
  await json.expectEnd()
}

async function* limitSize(part: StoredPart, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const limit = STORED_LIMITS[part]
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > limit) throw new JsonTooLarge(`more than ${limit} bytes unpacked`)
    yield chunk
  }
}

function toProblem(error: unknown): string {
  if (error instanceof SchemaMismatch) return `does not fit: ${error.message}`
  if (error instanceof JsonTooLarge) return `has ${error.message}`
  if (error instanceof SyntaxError) return `is not the expected JSON: ${error.message}`
  return 'cannot be unpacked'
}
