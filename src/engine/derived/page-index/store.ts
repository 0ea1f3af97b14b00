import { type PackedPageIndex, rangesOf } from '../../rows/page-indexes.js'
import type { Database } from '../../storage/database.js'
import { pack, unpack } from '../../storage/packed.js'
import type { BuiltPageIndex, IndexedRange } from './build.js'

export async function packPageIndex({ length, profile, ranges }: BuiltPageIndex): Promise<PackedPageIndex> {
  return { length, profile, rangeCount: ranges.length, ranges: await pack(ranges) }
}

export async function readRanges(db: Database, versionKey: number): Promise<IndexedRange[]> {
  const ranges = await db.read(rangesOf(versionKey))
  return ranges === undefined ? [] : unpack<IndexedRange[]>(ranges)
}
