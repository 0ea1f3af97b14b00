import type { Block, ParserInput } from '../parsed.js'
import { readCompound } from './compound.js'
import { chartInOle } from './ole-charts.js'
import { fileInOle, type OleFile, type OleStreams } from './ole-file.js'

/** What an object holds: a file, the blocks of a chart, or nothing that is read. */
export type Held = OleFile | Block[] | undefined

/** @param whole the object as a compound file, where it is one by itself */
export function heldInOle(
  streams: OleStreams,
  { filename, limits }: Pick<ParserInput, 'filename' | 'limits'>,
  whole?: Buffer,
): Held {
  const chart = chartInOle(streams, filename, limits)
  return chart.length > 0 ? chart : fileInOle(streams, whole)
}

/**
 * The same of the bytes of an object, which are a compound file.
 *
 * @throws ReadError `malformed` where they are none
 */
export function heldInCompound(bytes: Buffer, input: Pick<ParserInput, 'filename' | 'limits'>): Held {
  return heldInOle(readCompound(bytes, input.filename), input, bytes)
}
