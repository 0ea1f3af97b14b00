import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type {
  ConsistencyIssue,
  FsckCheck,
  GcCandidate,
  RepairReport,
} from '../../../../src/contract/gateway/integrity.js'
import type { Engine } from '../../../../src/engine/index.js'
import { ADA, ingest } from '../../../helpers/engine.js'

export const CHECKS = ['raw-objects', 'artifact-segments', 'references'] as const

/** A space with some documents of a few sections each. */
export async function spaceWith(engine: Engine, slug: string, files: number): Promise<{ id: string; names: string[] }> {
  const { id } = await engine.spaces.create(ADA, { name: slug, slug })
  const names = Array.from({ length: files }, (_, place) => `notes/${slug}-${place}.md`)
  await ingest(engine, ADA, id, Object.fromEntries(names.map((name, place) => [name, noteText(slug, place)])))
  return { id, names }
}

export function noteText(slug: string, place: number): string {
  const words = Array.from({ length: 60 }, (_, word) => `${slug}word${place}x${word}`).join(' ')
  return `# Note ${place} of ${slug}\n\nThe first part.\n\n## Details ${place}\n\n${words}\n\n## End\n\nA last line about zebra${slug}${place}.\n`
}

/** All issues of a check, over its pages. */
export async function allIssues(
  engine: Engine,
  spaceId: string,
  check: FsckCheck | 'all' = 'all',
  deep = false,
): Promise<ConsistencyIssue[]> {
  const issues: ConsistencyIssue[] = []
  for (const one of check === 'all' ? CHECKS : [check]) {
    let cursor: string | undefined
    do {
      const page = await engine.integrity.fsck(ADA, spaceId, { check: one, deep, cursor })
      issues.push(...page.issues)
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return issues
}

/** Runs all automatic repairs, check by check and page by page. */
export async function repairAll(engine: Engine, spaceId: string, dryRun = false): Promise<RepairReport['items']> {
  const items: RepairReport['items'] = []
  for (const check of CHECKS) {
    let cursor: string | undefined
    do {
      const page = await engine.integrity.repair(ADA, spaceId, { dryRun, check, deep: false, cursor })
      items.push(...page.items)
      cursor = page.cursor
    } while (cursor !== undefined)
  }
  return items
}

export async function allCandidates(engine: Engine, spaceId: string, prefix?: string): Promise<GcCandidate[]> {
  const found: GcCandidate[] = []
  let cursor: string | undefined
  do {
    const page = await engine.integrity.gcDryRun(ADA, spaceId, { cursor, stagedObjectPrefix: prefix })
    found.push(...page.candidates)
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

/** Changes rows directly, without the engine. */
export function sql<T>(dataDir: string, work: (db: Sqlite.Database) => T): T {
  const db = new Sqlite(join(dataDir, 'db', 'main.sqlite'))
  try {
    db.pragma('busy_timeout = 5000')
    return work(db)
  } finally {
    db.close()
  }
}

/** The number of occurrences of each code. */
export function codes(issues: { code: string }[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const { code } of issues) found[code] = (found[code] ?? 0) + 1
  return found
}
