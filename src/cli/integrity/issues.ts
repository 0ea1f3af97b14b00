import type { Client } from '../../client/client.js'
import type { ConsistencyIssue, FsckCheck, RepairReport } from '../../contract/gateway/integrity.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { OutputColumn } from '../columns.js'

export const FSCK_CHECKS = ['raw-objects', 'artifact-segments', 'references'] as const
export const ISSUE_SEVERITIES = ['info', 'warning', 'error', 'critical'] as const

/** Numeric rank of a severity; the worst is the highest. */
export function getSeverityRank(severity: string): number {
  const ranks: readonly string[] = ISSUE_SEVERITIES
  return ranks.indexOf(severity)
}

export const ISSUE_COLUMNS: OutputColumn[] = [
  { field: 'severity' },
  { field: 'type' },
  { field: 'repairability', title: 'REPAIR' },
  { field: 'message' },
]

export const REPAIR_COLUMNS: OutputColumn[] = [
  { field: 'status' },
  { field: 'issue.type', title: 'TYPE' },
  { field: 'issue.message', title: 'ISSUE' },
  { field: 'action' },
]

export interface FsckSelection {
  id: string
  checks: readonly FsckCheck[]
  /** Whether to search for every passage, too. */
  deep: boolean
}

/**
 * Lists issues of the given checks, over all pages, in the order of the checks. Checks run in parallel: one waits for
 * the disk or a thread while another computes.
 *
 * @param onPage called with the number of rows and objects that a page scanned
 */
export async function* listIssues(
  client: Client,
  { id, checks, deep }: FsckSelection,
  onPage: (scanned: number) => void,
): AsyncGenerator<ConsistencyIssue> {
  const running = checks.map((check) => prefetch(loadPages(client, { id, check, deep })))
  for (const pages of running)
    for await (const page of pages) {
      onPage(page.summary.scanned)
      yield* page.issues
    }
}

export interface IssueCounts {
  scanned: number
  /** Issues that are as severe as `failOn` or worse. */
  failing: number
  repairable: number
}

/** Lists issues and counts them. @param repairable whether to list only issues that can be repaired automatically */
export async function* countIssues(
  client: Client,
  selection: FsckSelection,
  { repairable, failOn }: { repairable: boolean; failOn: string },
  counts: IssueCounts,
): AsyncGenerator<ConsistencyIssue> {
  for await (const issue of listIssues(client, selection, (scanned) => (counts.scanned += scanned))) {
    const isRepairable = issue.repairability === 'auto-repairable'
    if (repairable && !isRepairable) continue
    if (isRepairable) counts.repairable++
    if (getSeverityRank(issue.severity) >= getSeverityRank(failOn)) counts.failing++
    yield issue
  }
}

async function* loadPages(client: Client, { id, check, deep }: { id: string; check: FsckCheck; deep: boolean }) {
  let cursor: string | undefined
  do {
    const page = await client.request('GET /knowledge-spaces/{id}/fsck', {
      path: { id },
      query: { check, deep: deep ? 'true' : 'false', ...omitUndefined({ cursor }) },
    })
    yield page
    cursor = page.cursor
  } while (cursor !== undefined)
}

/** Maximum number of pages that wait to be shown; a check with many issues pauses there. */
const MAX_PREFETCHED_PAGES = 16

/** Fetches values of a generator before they are consumed; starts at once. */
function prefetch<T>(pages: AsyncGenerator<T>): AsyncGenerator<T> {
  const fetched: Promise<IteratorResult<T, unknown>>[] = []
  const fill = (): void => {
    // A generator handles its calls in sequence.
    while (fetched.length < MAX_PREFETCHED_PAGES) {
      const next = pages.next()
      // The consumer gets the error.
      next.catch(() => {})
      fetched.push(next)
    }
  }
  fill()
  return (async function* () {
    for (let next = await fetched.shift(); next !== undefined && next.done !== true; next = await fetched.shift()) {
      fill()
      yield next.value
    }
  })()
}

/** Repairs issues, or reports possible repairs with `dryRun`, by check and page. */
export async function* runRepairs(
  client: Client,
  { id, checks, deep, dryRun }: FsckSelection & { dryRun: boolean },
): AsyncGenerator<RepairReport['items'][number]> {
  for (const check of checks) {
    let cursor: string | undefined
    do {
      const page = await client.request('POST /knowledge-spaces/{id}/fsck/repair', {
        path: { id },
        body: { dryRun, check, deep, ...omitUndefined({ cursor }) },
      })
      yield* page.items
      cursor = page.cursor
    } while (cursor !== undefined)
  }
}
