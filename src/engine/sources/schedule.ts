import { setNextSync, sourcesDueAfter } from '../rows/source-syncs.js'
import type { SourceRow } from '../rows/sources.js'
import type { Write } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { isSynced } from './connectors/registry.js'
import { nextRun, plannedAgain, readSyncPolicy } from './sync-policy.js'

/** Corrects due times that are too far in the future because a clock was set back. */
export function* replanAll(now: number): Write<void> {
  for (const source of yield* sourcesDueAfter(now)) {
    const policy = policyOf(source)
    if (policy === undefined || source.next_sync_at === null) continue
    const next = plannedAgain(policy, source.next_sync_at, now)
    if (next !== source.next_sync_at) yield* setNextSync(source, next, now)
  }
}

/** Time of the next sync of a source that is synced now. */
export function dueAfter(source: SourceRow, now: number): number | null {
  const policy = policyOf(source)
  return policy === undefined ? null : nextRun(policy, now)
}

function policyOf(source: SourceRow) {
  const metadata: Record<string, unknown> = fromCell(source.metadata)
  return isSynced(source.type, metadata) ? readSyncPolicy(metadata) : undefined
}
