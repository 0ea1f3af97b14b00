import type { Write } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { listSourcesDueAfter, setNextSync } from '../../store/rows/source-syncs.js'
import type { SourceRow } from '../../store/rows/sources.js'
import { isSyncable } from './connectors/registry.js'
import { computeNextRun, limitPlannedRun, parseSyncPolicy } from './sync-policy.js'

/** Corrects due times that are too far in the future because a clock was set back. */
export function* replanAll(now: number): Write<void> {
  for (const source of yield* listSourcesDueAfter(now)) {
    const policy = getPolicy(source)
    if (policy === undefined || source.next_sync_at === null) continue
    const next = limitPlannedRun(policy, source.next_sync_at, now)
    if (next !== source.next_sync_at) yield* setNextSync(source, next, now)
  }
}

/** The planned time of the first sync after `now`; null for a source without a schedule or without a connector. */
export function computeNextSync(source: SourceRow, now: number): number | null {
  const policy = getPolicy(source)
  return policy === undefined ? null : computeNextRun(policy, now)
}

function getPolicy(source: SourceRow) {
  const metadata: Record<string, unknown> = parseJsonCell(source.metadata)
  return isSyncable(source.type, metadata) ? parseSyncPolicy(metadata) : undefined
}
