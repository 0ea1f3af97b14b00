import Sqlite from 'better-sqlite3'
import type { Client } from '../../../src/client/client.js'
import { CHECKS } from '../../engine/upkeep/integrity/space.js'
import { until } from '../../helpers/until.js'

/** All issues of a deep check of a space, once its indexes have had time to catch up. */
export async function issuesOf(client: Client, spaceId: string): Promise<string[]> {
  let found: string[] = []
  const isClean = async () => {
    found = []
    for (const check of CHECKS) found.push(...(await pagesOf(client, spaceId, check)))
    return found.length === 0
  }
  await until(isClean, 60_000).catch(() => undefined)
  return found
}

async function pagesOf(client: Client, id: string, check: (typeof CHECKS)[number]): Promise<string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const query = { check, deep: 'true' as const, ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.request('GET /knowledge-spaces/{id}/fsck', { path: { id }, query })
    found.push(...page.issues.map((issue) => `${issue.type}: ${issue.message}`))
    cursor = page.cursor
  } while (cursor !== undefined)
  return found
}

/** The result of SQLite's check of a closed database: `ok`, or the damage. */
export function integrityOf(path: string): unknown {
  const sqlite = new Sqlite(path, { fileMustExist: true })
  try {
    return sqlite.pragma('integrity_check', { simple: true })
  } finally {
    sqlite.close()
  }
}
