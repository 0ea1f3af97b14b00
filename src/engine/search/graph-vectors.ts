import { open } from 'node:fs/promises'

/**
 * Header of the library's file, as a 64-bit machine writes it: six numbers of eight bytes, two of four, five of eight.
 * After it, each point has one element of a fixed size: its links, its vector as floats, its label.
 */
const HEAD_BYTES = 96
const COUNT_AT = 16
const ELEMENT_BYTES_AT = 24
const LABEL_AT = 32
const VECTOR_AT = 40

/** Bytes read at once; the event loop runs in between. */
const PIECE_BYTES = 2 * 1024 * 1024

/**
 * Reads the vectors of a graph file that was checked before.
 *
 * @param take receives each label with its vector, in an array that is reused
 * @throws Error where the layout of the file is unexpected
 */
export async function readVectors(
  path: string,
  dimension: number,
  take: (label: number, vector: Float32Array) => void,
): Promise<void> {
  const vectorBytes = dimension * Float32Array.BYTES_PER_ELEMENT
  const handle = await open(path, 'r')
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    await handle.read(head, 0, HEAD_BYTES, 0)
    const [count, elementBytes, labelAt, vectorAt] = [COUNT_AT, ELEMENT_BYTES_AT, LABEL_AT, VECTOR_AT].map((at) =>
      Number(head.readBigUInt64LE(at)),
    )
    if (count === undefined || elementBytes === undefined || labelAt === undefined || vectorAt === undefined) return
    const fits = vectorAt % 4 === 0 && elementBytes % 4 === 0 && vectorAt + vectorBytes <= labelAt
    if (!fits || labelAt + 8 > elementBytes) throw new Error(`${path}: unknown element layout with ${elementBytes} bytes`)
    const most = Math.max(1, Math.floor(PIECE_BYTES / elementBytes))
    const piece = Buffer.from(new ArrayBuffer(most * elementBytes))
    for (let done = 0; done < count; done += most) {
      const wanted = Math.min(most, count - done) * elementBytes
      const { bytesRead } = await handle.read(piece, 0, wanted, HEAD_BYTES + done * elementBytes)
      if (bytesRead < wanted) throw new Error(`${path} ends before its points do`)
      for (let at = 0; at < wanted; at += elementBytes) {
        const vector = new Float32Array(piece.buffer, at + vectorAt, dimension)
        take(Number(piece.readBigUInt64LE(at + labelAt)), vector)
      }
    }
  } finally {
    await handle.close()
  }
}
