import { closeSync, openSync, readSync } from 'node:fs'

/** Facts from the header of a GGUF file about its model. */
export interface GgufFacts {
  architecture: string
  license?: string
  contextTokens?: number
  /** how token vectors become one vector; absent where the file states none, like most language models */
  pooling?: 'none' | 'mean' | 'cls' | 'last' | 'rank'
  /** whether a token sees later ones, as in encoders */
  isBidirectional: boolean
}

/** A file that cannot be read as GGUF. The message continues a sentence that begins with the file. */
export class GgufError extends Error {}

const MAGIC = 'GGUF'
/** versions with lengths of 64 bits; version 1, used for some weeks in 2023, has shorter ones */
const VERSIONS = { min: 2, max: 3 }
/** far more than any model has */
const MAX_ENTRIES = 65_536
const MAX_KEY_BYTES = 65_535
const MAX_STRING_BYTES = 16 * 1024 * 1024
/** far more than any vocabulary; no sum of such arrays exceeds the offsets that a read accepts */
const MAX_ARRAY_LENGTH = 2 ** 32
const CHUNK_BYTES = 1024 * 1024

const STRING = 8
const ARRAY = 9
/** bytes of a value by its type */
const SIZES: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 }
/** by number in llama.cpp */
const POOLINGS = ['none', 'mean', 'cls', 'last', 'rank'] as const

/**
 * Reads the header of a GGUF file: its metadata, not its weights.
 *
 * @throws GgufError for a file of another format, or one that ends within its header
 */
export function readGguf(path: string): GgufFacts {
  const file = openSync(path, 'r')
  try {
    return toFacts(readMetadata(new HeaderReader(file)))
  } finally {
    closeSync(file)
  }
}

type GgufMetadata = ReadonlyMap<string, string | number | boolean>

function toFacts(metadata: GgufMetadata): GgufFacts {
  const text = (key: string) => {
    const value = metadata.get(key)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const number = (key: string) => {
    const value = metadata.get(key)
    return typeof value === 'number' ? value : undefined
  }
  const architecture = text('general.architecture')
  if (architecture === undefined) throw new GgufError('names no architecture')
  const license = text('general.license')
  const contextTokens = number(`${architecture}.context_length`)
  const pooling = POOLINGS[number(`${architecture}.pooling_type`) ?? -1]
  return {
    architecture,
    ...(license === undefined ? {} : { license }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(pooling === undefined ? {} : { pooling }),
    isBidirectional: metadata.get(`${architecture}.attention.causal`) === false,
  }
}

function readMetadata(header: HeaderReader): GgufMetadata {
  if (header.bytes(4).toString('latin1') !== MAGIC) throw new GgufError('is no GGUF file')
  const version = header.bytes(4).readUInt32LE()
  if (version < VERSIONS.min || version > VERSIONS.max)
    throw new GgufError(`has version ${version} of GGUF; supported are ${VERSIONS.min} to ${VERSIONS.max}`)
  header.skip(8) // number of tensors
  const entries = header.count(MAX_ENTRIES)
  const metadata = new Map<string, string | number | boolean>()
  for (let entry = 0; entry < entries; entry++) {
    const key = header.bytes(header.count(MAX_KEY_BYTES)).toString('utf8')
    const type = header.bytes(4).readUInt32LE()
    if (type === ARRAY) skipArray(header)
    else metadata.set(key, readValue(header, type))
  }
  return metadata
}

function readValue(header: HeaderReader, type: number): string | number | boolean {
  if (type === STRING) return header.bytes(header.count(MAX_STRING_BYTES)).toString('utf8')
  const bytes = header.bytes(getValueSize(type))
  switch (type) {
    case 6:
      return bytes.readFloatLE()
    case 7:
      return bytes[0] !== 0
    case 12:
      return bytes.readDoubleLE()
    case 1:
    case 3:
    case 5:
    case 11:
      return bytes.readIntLE(0, Math.min(6, bytes.length))
    default:
      return bytes.readUIntLE(0, Math.min(6, bytes.length))
  }
}

function skipArray(header: HeaderReader): void {
  const type = header.bytes(4).readUInt32LE()
  const length = header.count(MAX_ARRAY_LENGTH)
  if (type === STRING) for (let index = 0; index < length; index++) header.skip(header.count(MAX_STRING_BYTES))
  else header.skip(length * getValueSize(type))
}

function getValueSize(type: number): number {
  const size = SIZES[type]
  if (size === undefined) throw new GgufError('has a value of an unknown type')
  return size
}

/** Reads a file from its start, in chunks. */
class HeaderReader {
  readonly #file: number
  #chunk = Buffer.alloc(0)
  #used = 0
  /** offset in the file of the next chunk */
  #next = 0

  constructor(file: number) {
    this.#file = file
  }

  bytes(length: number): Buffer {
    const remaining = this.#chunk.subarray(this.#used)
    if (remaining.length >= length) {
      this.#used += length
      return remaining.subarray(0, length)
    }
    const read = Buffer.alloc(Math.max(CHUNK_BYTES, length))
    const count = readSync(this.#file, read, 0, read.length, this.#next)
    this.#next += count
    this.#chunk = Buffer.concat([remaining, read.subarray(0, count)])
    this.#used = length
    if (this.#chunk.length < length) throw new GgufError('ends within its header')
    return this.#chunk.subarray(0, length)
  }

  skip(length: number): void {
    const remaining = this.#chunk.length - this.#used
    if (length <= remaining) {
      this.#used += length
      return
    }
    this.#chunk = Buffer.alloc(0)
    this.#used = 0
    this.#next += length - remaining
  }

  /** A length of 64 bits. */
  count(max: number): number {
    const value = this.bytes(8).readBigUInt64LE()
    if (value > BigInt(max)) throw new GgufError('has a length that no model has')
    return Number(value)
  }
}
