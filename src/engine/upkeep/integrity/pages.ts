import { KsError } from '../../../contract/errors.js'
import type { FsckCheck, IntegrityTarget } from '../../../contract/gateway/integrity.js'
import { LIMITS } from '../../../contract/limits.js'
import { ReadClock } from '../../base/clock.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import { artifactPhases } from './artifacts.js'
import { chatFilesPhase } from './chat-files.js'
import { databasePagesPhase } from './database-pages.js'
import { deepPhases } from './deep.js'
import type { IntegrityFinding, IntegrityScan } from './findings.js'
import { MAX_SLICE_FINDINGS, type ScanPhase, type ScanPosition } from './phase.js'
import { rawObjectPhases } from './raw-objects.js'
import { referencePhases } from './references.js'
import { rowPhases } from './rows.js'
import { filterVisible } from './target-visibility.js'

export interface ScanPage<T> {
  scanned: number
  findings: T[]
  cursor?: string
}

/** Approximate duration of a call, which leaves the rest to the next: other work needs the event loop and the disk. */
const MAX_CALL_MS = 2000
const MAX_SCANNED = 50_000

function selectPhases(check: FsckCheck, deep: boolean): ScanPhase[] {
  if (check === 'raw-objects') return [...rawObjectPhases, chatFilesPhase]
  if (check === 'artifact-segments') return [databasePagesPhase, ...artifactPhases, ...rowPhases]
  return deep ? [...referencePhases, ...deepPhases] : referencePhases
}

/** One page of a check. @throws KsError `invalid-cursor` */
export async function checkPage(
  scan: IntegrityScan,
  query: { check: FsckCheck; deep: boolean; cursor?: string | undefined },
): Promise<ScanPage<IntegrityFinding>> {
  const filter = hashFilter('fsck', scan.space.id, query.check, String(query.deep))
  return scanPage(
    scan,
    selectPhases(query.check, query.deep),
    { filter, cursor: query.cursor },
    ({ issue }) => issue.target,
  )
}

interface ScanStart {
  /** what the cursor may be used with */
  filter: string
  cursor: string | undefined
}

/**
 * Runs phases from the position of a cursor until a page is full or its time is over.
 *
 * @param toTarget the target of a finding; findings that the reader may not see are omitted
 * @throws KsError `invalid-cursor`
 */
export async function scanPage<T>(
  scan: IntegrityScan,
  phases: ScanPhase<T>[],
  { filter, cursor }: ScanStart,
  toTarget: (found: T) => IntegrityTarget,
): Promise<ScanPage<T>> {
  let { phase, after } = decodeCursorPosition(cursor, filter, phases.length)
  const findings: T[] = []
  let scanned = 0
  const clock = new ReadClock(MAX_CALL_MS)
  for (let current = phases[phase]; current !== undefined; current = phases[phase]) {
    const slice = await current(scan, after)
    findings.push(...(await scan.context.db.read(filterVisible(scan, slice.findings, toTarget))))
    scanned += slice.scanned
    after = slice.next
    if (after === undefined) phase++
    // reading rows never yields to the event loop
    if (clock.isYieldDue) await clock.yieldIfDue()
    const isFull = findings.length > LIMITS.reportEntries - MAX_SLICE_FINDINGS || scanned >= MAX_SCANNED
    if (phase < phases.length && (isFull || clock.isOver))
      return {
        scanned,
        findings,
        cursor: encodeCursor({ after: after === undefined ? [phase] : [phase, after] }, filter),
      }
  }
  return { scanned, findings }
}

function decodeCursorPosition(
  cursor: string | undefined,
  filter: string,
  phases: number,
): { phase: number; after: ScanPosition | undefined } {
  if (cursor === undefined) return { phase: 0, after: undefined }
  const [phase, after] = decodeCursor(cursor, filter).after
  if (typeof phase !== 'number' || phase < 0 || phase >= phases)
    throw new KsError('invalid-cursor', 'cursor is not one that this list returned for this filter')
  return { phase, after }
}
