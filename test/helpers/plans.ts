import Sqlite from 'better-sqlite3'
import { vi } from 'vitest'
import { Database } from '../../src/engine/store/database.js'

/** The SQL statements that databases in files run while work goes on, in order. */
export async function statementsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const execute = vi.spyOn(Database.prototype, 'execute')
  try {
    await work()
    return execute.mock.calls.map(([{ sql }]) => sql)
  } finally {
    execute.mockRestore()
  }
}

/** The steps of the query plan of SQLite for a statement, on this database file. */
export function planOf(file: string, statement: string): string[] {
  const sqlite = new Sqlite(file, { readonly: true })
  try {
    const explained = sqlite.prepare<[], { detail: string }>(`EXPLAIN QUERY PLAN ${statement.replaceAll('?', 'NULL')}`)
    return explained.all().map(({ detail }) => detail)
  } finally {
    sqlite.close()
  }
}
