import { crc32 } from 'node:zlib'
import { KsError } from '../../../contract/errors.js'
import { ANALYZER_VERSION } from '../../../lib/text/analyze.js'
import type { LsaModel } from './lsa.js'

/**
 * Format of a model, little-endian: header, document frequencies (u32), scales (f32), basis (i8), then the terms as
 * UTF-8 separated by line feeds, and the CRC-32 of everything before it (u32).
 */
const MODEL_MAGIC = 0x4153_4c4b // "KLSA"
const FORMAT_VERSION = 1
const HEADER_BYTES = 32
const CHECKSUM_BYTES = 4

/** Serializes a model for storage; `parseModel` reads it. */
export function serializeModel(model: LsaModel): Uint8Array {
  const terms = Buffer.from(model.terms.join('\n'), 'utf8')
  const count = model.terms.length
  const size = HEADER_BYTES + 4 * count + 4 * model.rows + model.rows * model.dimension + terms.length + CHECKSUM_BYTES
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  const header = [
    MODEL_MAGIC,
    FORMAT_VERSION,
    ANALYZER_VERSION,
    model.documents,
    count,
    model.rows,
    model.dimension,
    terms.length,
  ]
  header.forEach((value, i) => {
    view.setUint32(4 * i, value, true)
  })
  let offset = HEADER_BYTES
  for (const frequency of model.frequencies) {
    view.setUint32(offset, frequency, true)
    offset += 4
  }
  for (const scale of model.scales) {
    view.setFloat32(offset, scale, true)
    offset += 4
  }
  bytes.set(new Uint8Array(model.basis.buffer, model.basis.byteOffset, model.basis.length), offset)
  bytes.set(terms, offset + model.basis.length)
  view.setUint32(size - CHECKSUM_BYTES, crc32(bytes.subarray(0, size - CHECKSUM_BYTES)), true)
  return bytes
}

/**
 * Parses a serialized model.
 *
 * @throws KsError `internal` when the bytes are damaged or of another version; the model is then retrained
 */
export function parseModel(bytes: Uint8Array): LsaModel {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < HEADER_BYTES + CHECKSUM_BYTES || view.getUint32(0, true) !== MODEL_MAGIC)
    throw toDamagedError('not a model')
  const readField = (index: number): number => view.getUint32(4 * index, true)
  const [format, analyzer, documents] = [readField(1), readField(2), readField(3)]
  const [count, rows, dimension, termBytes] = [readField(4), readField(5), readField(6), readField(7)]
  if (format !== FORMAT_VERSION) throw toDamagedError(`format ${format}, not ${FORMAT_VERSION}`)
  if (analyzer !== ANALYZER_VERSION) throw toDamagedError(`made for text analyser ${analyzer}, not ${ANALYZER_VERSION}`)
  const size = HEADER_BYTES + 4 * count + 4 * rows + rows * dimension + termBytes + CHECKSUM_BYTES
  if (size !== bytes.length || rows > count) throw toDamagedError(`${bytes.length} bytes, not ${size}`)
  if (crc32(bytes.subarray(0, size - CHECKSUM_BYTES)) !== view.getUint32(size - CHECKSUM_BYTES, true)) {
    throw toDamagedError('its checksum does not match')
  }
  let offset = HEADER_BYTES
  const frequencies = Uint32Array.from({ length: count }, (_, i) => view.getUint32(offset + 4 * i, true))
  offset += 4 * count
  const scales = Float32Array.from({ length: rows }, (_, i) => view.getFloat32(offset + 4 * i, true))
  offset += 4 * rows
  const basis = Int8Array.from(new Int8Array(bytes.buffer, bytes.byteOffset + offset, rows * dimension))
  offset += rows * dimension
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + offset, termBytes).toString('utf8')
  return { dimension, documents, terms: text === '' ? [] : text.split('\n'), rows, frequencies, basis, scales }
}

/** Whether a stored model was made with this analyser; others are retrained. */
export function isOfThisAnalyzer(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_BYTES) return true // damaged; `parseModel` reports that
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(8, true) === ANALYZER_VERSION
}

function toDamagedError(reason: string): KsError {
  return new KsError('internal', `the stored embedding model cannot be used: ${reason}`)
}
