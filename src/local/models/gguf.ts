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
/** limits for damaged files: far more than any model has */
const MAX_ENTRIES = 65_536
const MAX_KEY_BYTES = 65_535
const MAX_STRING_BYTES = 16 * 1024 * 1024
/** far more than any vocabulary; no sum of such arrays exceeds the offsets that a read accepts */
const MAX_ARRAY_LENGTH = 2 ** 32
const CHUNK_BYTES = 1024 * 1024

const STRING_TYPE = 8
const ARRAY_TYPE = 9
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
  const getText = (key: string) => {
    const value = metadata.get(key)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const getNumber = (key: string) => {
    const value = metadata.get(key)
    return typeof value === 'number' ? value : undefined
  }
  const architecture = getText('general.architecture')
  if (architecture === undefined) throw new GgufError('names no architecture')
  const license = getText('general.license')
  const contextTokens = getNumber(`${architecture}.context_length`)
  const pooling = POOLINGS[getNumber(`${architecture}.pooling_type`) ?? -1]
  return {
    architecture,
    ...(license === undefined ? {} : { license }),
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(pooling === undefined ? {} : { pooling }),
    isBidirectional: metadata.get(`${architecture}.attention.causal`) === false,
  }
}

function readMetadata(header: HeaderReader): GgufMetadata {
  if (header.readBytes(4).toString('latin1') !== MAGIC) throw new GgufError('is no GGUF file')
  const version = header.readBytes(4).readUInt32LE()
  if (version < VERSIONS.min || version > VERSIONS.max)
    throw new GgufError(`has version ${version} of GGUF; supported are ${VERSIONS.min} to ${VERSIONS.max}`)
  header.skip(8) // number of tensors
  const entries = header.readLength(MAX_ENTRIES)
  const metadata = new Map<string, string | number | boolean>()
  for (let entry = 0; entry < entries; entry++) {
    const key = header.readBytes(header.readLength(MAX_KEY_BYTES)).toString('utf8')
    const type = header.readBytes(4).readUInt32LE()
    if (type === ARRAY_TYPE) skipArray(header)
    else metadata.set(key, readValue(header, type))
  }
  return metadata
}

function readValue(header: HeaderReader, type: number): string | number | boolean {
  if (type === STRING_TYPE) return header.readBytes(header.readLength(MAX_STRING_BYTES)).toString('utf8')
  const bytes = header.readBytes(getValueSize(type))
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
  const type = header.readBytes(4).readUInt32LE()
  const length = header.readLength(MAX_ARRAY_LENGTH)
  if (type === STRING_TYPE)
    for (let index = 0; index < length; index++) header.skip(header.readLength(MAX_STRING_BYTES))
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
  #usedBytes = 0
  /** offset in the file of the next chunk */
  #nextOffset = 0

  constructor(file: number) {
    this.#file = file
  }

  readBytes(length: number): Buffer {
    const remaining = this.#chunk.subarray(this.#usedBytes)
    if (remaining.length >= length) {
      this.#usedBytes += length
      return remaining.subarray(0, length)
    }
    const read = Buffer.alloc(Math.max(CHUNK_BYTES, length))
    const count = readSync(this.#file, read, 0, read.length, this.#nextOffset)
    this.#nextOffset += count
    this.#chunk = Buffer.concat([remaining, read.subarray(0, count)])
    this.#usedBytes = length
    if (this.#chunk.length < length) throw new GgufError('ends within its header')
    return this.#chunk.subarray(0, length)
  }

  skip(length: number): void {
    const remaining = this.#chunk.length - this.#usedBytes
    if (length <= remaining) {
      this.#usedBytes += length
      return
    }
    this.#chunk = Buffer.alloc(0)
    this.#usedBytes = 0
    this.#nextOffset += length - remaining
  }

  /** A length of 64 bits. */
  readLength(max: number): number {
    const value = this.readBytes(8).readBigUInt64LE()
    if (value > BigInt(max)) throw new GgufError('has a length that no model has')
    return Number(value)
  }
}
