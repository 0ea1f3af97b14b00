import type { Block, ParserInput } from '../parsed.js'
import { readCompound } from './compound.js'
import { chartInOle } from './ole-charts.js'
import { fileInOle, type OleFile, type OleStreams } from './ole-file.js'

/** The content of an object: a file, the blocks of a chart, or nothing readable. */
export type Held = OleFile | Block[] | undefined

/** @param compoundFile the object as a compound file, when it is one */
export function heldInOle(
  streams: OleStreams,
  { filename, limits }: Pick<ParserInput, 'filename' | 'limits'>,
  whole?: Buffer,
): Held {
  const chart = chartInOle(streams, filename, limits)
  return chart.length > 0 ? chart : fileInOle(streams, whole)
}

/**
 * Reads the content of an object from its bytes, a compound file.
 *
 * @throws ReadError `malformed` when they are not a compound file
 */
export function heldInCompound(bytes: Buffer, input: Pick<ParserInput, 'filename' | 'limits'>): Held {
  return heldInOle(readCompound(bytes, input.filename), input, bytes)
}
