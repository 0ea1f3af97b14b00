export interface SyncSummary {
  at: string
  trigger: 'request' | 'schedule'
  total: number
  completed: number
  failed: number
  imported: number
  replaced: number
  skipped: number
  /** the first pages that failed */
  failures: { url: string; error: string }[]
}

/** Counts of a crawl or an import. */
export interface SyncCounts {
  imported: number
  replaced: number
  skipped: number
  failures: { url: string; error: string }[]
}

const MAX_FAILURES = 20

export function toSyncSummary(counts: SyncCounts, trigger: SyncSummary['trigger'], now: number): SyncSummary {
  const { imported, replaced, skipped, failures } = counts
  const completed = imported + replaced + skipped
  return {
    at: new Date(now).toISOString(),
    trigger,
    total: completed + failures.length,
    completed,
    failed: failures.length,
    imported,
    replaced,
    skipped,
    failures: failures.slice(0, MAX_FAILURES),
  }
}
