import { open } from 'node:fs/promises'

/**
 * Header of the library's file, as a 64-bit machine writes it: six numbers of eight bytes, two of four, five of eight.
 * After it, each point has one element of a fixed size: its links, its vector as floats, its label.
 */
export const HEADER_BYTES = 96
export const COUNT_OFFSET = 16
export const ELEMENT_BYTES_OFFSET = 24
const LABEL_OFFSET = 32
const VECTOR_OFFSET = 40

/** Bytes read at once; the event loop runs in between. */
const CHUNK_BYTES = 2 * 1024 * 1024

/**
 * Reads the vectors of a graph file that was checked before.
 *
 * @param take receives each label with its vector, in an array that is reused
 * @throws Error where the layout of the file is unexpected
 */
export async function readGraphVectors(
  path: string,
  dimension: number,
  take: (label: number, vector: Float32Array) => void,
): Promise<void> {
  const vectorBytes = dimension * Float32Array.BYTES_PER_ELEMENT
  const handle = await open(path, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    await handle.read(header, 0, HEADER_BYTES, 0)
    const readNumber = (offset: number) => Number(header.readBigUInt64LE(offset))
    const count = readNumber(COUNT_OFFSET)
    const elementBytes = readNumber(ELEMENT_BYTES_OFFSET)
    const labelOffset = readNumber(LABEL_OFFSET)
    const vectorOffset = readNumber(VECTOR_OFFSET)
    const fits = vectorOffset % 4 === 0 && elementBytes % 4 === 0 && vectorOffset + vectorBytes <= labelOffset
    if (!fits || labelOffset + 8 > elementBytes)
      throw new Error(`${path}: unknown element layout with ${elementBytes} bytes`)
    const maxElements = Math.max(1, Math.floor(CHUNK_BYTES / elementBytes))
    const chunk = Buffer.from(new ArrayBuffer(maxElements * elementBytes))
    for (let done = 0; done < count; done += maxElements) {
      const chunkBytes = Math.min(maxElements, count - done) * elementBytes
      const { bytesRead } = await handle.read(chunk, 0, chunkBytes, HEADER_BYTES + done * elementBytes)
      if (bytesRead < chunkBytes) throw new Error(`${path} ends before its points do`)
      for (let start = 0; start < chunkBytes; start += elementBytes) {
        const vector = new Float32Array(chunk.buffer, start + vectorOffset, dimension)
        take(Number(chunk.readBigUInt64LE(start + labelOffset)), vector)
      }
    }
  } finally {
    await handle.close()
  }
}
