import { KsError } from '../../contract/errors.js'
import type { FsckCheck, IntegrityTarget } from '../../contract/gateway/integrity.js'
import { LIMITS } from '../../contract/limits.js'
import { Clock } from '../base/clock.js'
import { decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import { artifactPhases } from './artifacts.js'
import { knownOf } from './audience.js'
import { chatFiles } from './chat-files.js'
import { databasePages } from './database-pages.js'
import { deepPhases } from './deep.js'
import type { Finding, Scan } from './findings.js'
import { type Phase, type Place, SLICE_FINDINGS } from './phase.js'
import { rawObjectPhases } from './raw-objects.js'
import { referencePhases } from './references.js'
import { rowPhases } from './rows.js'

export interface ScanPage<T> {
  scanned: number
  findings: T[]
  cursor?: string
}

/** Approximate duration of a call, which leaves the rest to the next: other work needs the event loop and the disk. */
const BUDGET_MS = 2000
const MAX_SCANNED = 50_000

function phasesOf(check: FsckCheck, deep: boolean): Phase[] {
  if (check === 'raw-objects') return [...rawObjectPhases, chatFiles]
  if (check === 'artifact-segments') return [databasePages, ...artifactPhases, ...rowPhases]
  return deep ? [...referencePhases, ...deepPhases] : referencePhases
}

/** One page of a check. @throws KsError `invalid-cursor` */
export async function checkPage(
  scan: Scan,
  which: { check: FsckCheck; deep: boolean; cursor?: string | undefined },
): Promise<ScanPage<Finding>> {
  const filter = filterHash('fsck', scan.space.id, which.check, String(which.deep))
  return scanPage(scan, phasesOf(which.check, which.deep), filter, which.cursor, ({ issue }) => issue.target)
}

/**
 * Runs phases from the position of a cursor until a page is full or its time is over.
 *
 * @param filter what the cursor may be used with
 * @param targetOf the target of a finding; findings that the reader may not see are omitted
 * @throws KsError `invalid-cursor`
 */
export async function scanPage<T>(
  scan: Scan,
  phases: Phase<T>[],
  filter: string,
  cursor: string | undefined,
  targetOf: (found: T) => IntegrityTarget,
): Promise<ScanPage<T>> {
  let { phase, after } = placeOf(cursor, filter, phases.length)
  const findings: T[] = []
  let scanned = 0
  const clock = new Clock(BUDGET_MS)
  for (let current = phases[phase]; current !== undefined; current = phases[phase]) {
    const slice = await current(scan, after)
    findings.push(...(await scan.context.db.read(knownOf(scan, slice.findings, targetOf))))
    scanned += slice.scanned
    after = slice.next
    if (after === undefined) phase++
    // reading rows never yields to the event loop
    if (clock.due) await clock.turn()
    const full = findings.length > LIMITS.reportEntries - SLICE_FINDINGS || scanned >= MAX_SCANNED
    if (phase < phases.length && (full || clock.over))
      return {
        scanned,
        findings,
        cursor: encodeCursor({ after: after === undefined ? [phase] : [phase, after] }, filter),
      }
  }
  return { scanned, findings }
}

function placeOf(
  cursor: string | undefined,
  filter: string,
  phases: number,
): { phase: number; after: Place | undefined } {
  if (cursor === undefined) return { phase: 0, after: undefined }
  const [phase, after] = decodeCursor(cursor, filter).after
  if (typeof phase !== 'number' || phase < 0 || phase >= phases)
    throw new KsError('invalid-cursor', 'cursor is not one that this list returned for this filter')
  return { phase, after }
}
