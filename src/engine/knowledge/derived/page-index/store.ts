import type { Driver } from '../../../store/driver.js'
import { pack, unpack } from '../../../store/packed.js'
import { findPageIndexRanges, type PackedPageIndex } from '../../../store/rows/page-indexes.js'
import type { BuiltPageIndex, IndexedRange } from './build.js'

export async function packPageIndex({ length, profile, ranges }: BuiltPageIndex): Promise<PackedPageIndex> {
  return { length, profile, rangeCount: ranges.length, ranges: await pack(ranges) }
}

export async function readRanges(db: Driver, versionKey: number): Promise<IndexedRange[]> {
  const ranges = await db.read(findPageIndexRanges(versionKey))
  return ranges === undefined ? [] : unpack<IndexedRange[]>(ranges)
}
