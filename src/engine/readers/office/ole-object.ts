import type { Block, ParserInput } from '../parsed.js'
import { readCompound } from './compound.js'
import { readOleChart } from './ole-charts.js'
import { type OleFile, type OleStreams, readOleFile } from './ole-file.js'

/** The content of an object: a file, the blocks of a chart, or nothing readable. */
export type OleContent = OleFile | Block[] | undefined

/** @param compoundFile the object as a compound file, when it is one */
export function readOleContent(
  streams: OleStreams,
  { filename, limits }: Pick<ParserInput, 'filename' | 'limits'>,
  compoundFile?: Buffer,
): OleContent {
  const chart = readOleChart(streams, filename, limits)
  return chart.length > 0 ? chart : readOleFile(streams, compoundFile)
}

/**
 * Reads the content of an object from its bytes, a compound file.
 *
 * @throws ReadError `malformed` when they are not a compound file
 */
export function readCompoundContent(bytes: Buffer, input: Pick<ParserInput, 'filename' | 'limits'>): OleContent {
  return readOleContent(readCompound(bytes, input.filename), input, bytes)
}
