import Sqlite from 'better-sqlite3'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPostgresDialect } from '../../src/engine/store/dialect.js'
import { sqliteSchema } from '../../src/engine/store/schema/sqlite.js'
import { buildInsertSql, ROW_TABLES } from '../../src/engine/upkeep/rows/bundles/tables.js'
import { connect, createMigratedDatabase, hasServer } from '../helpers/postgres.js'
import { type Site, statementSites } from '../repo/statements.js'
import { STATEMENT_FOLDERS } from '../repo/tree.js'

/** Statements for PostgreSQL only: its settings, and what gateways must share. */
const OF_POSTGRES = ['src/engine/store/postgres/', 'src/engine/store/deployment.ts']

/** Statements whose texts are built from the columns of the schema. */
const BUNDLE_ROWS = 'src/engine/upkeep/rows/bundles/write.ts'

/** Statements for SQLite only: its pages and its own catalogue. */
const OF_SQLITE = [
  'src/engine/store/free-pages.ts',
  'src/engine/store/store-identity.ts: SELECT 1 FROM sqlite_schema',
  'src/engine/upkeep/rows/integrity/tables.ts',
]

describe.skipIf(!hasServer)('all SQL statements', () => {
  const dialect = createPostgresDialect()
  let client: Client
  let sites: Site[]
  let sqlite: Sqlite.Database

  beforeAll(async () => {
    client = await connect(await createMigratedDatabase())
    sqlite = new Sqlite(':memory:')
    sqlite.exec(sqliteSchema())
    sites = statementSites(...STATEMENT_FOLDERS).filter(
      ({ place, texts }) => !OF_SQLITE.some((one) => `${place.split(':')[0]}: ${texts[0]?.trim()}`.startsWith(one)),
    )
  }, 120_000)

  afterAll(async () => {
    await client.end()
  })

  /** Combines only fragments that occur together: no database accepts the other texts. */
  const isMeant = (text: string, { place }: Site): boolean => {
    if (OF_POSTGRES.some((one) => place.startsWith(one))) return true
    try {
      sqlite.prepare(text)
      return true
    } catch {
      return false
    }
  }

  /** Whether PostgreSQL infers a type that is too narrow for our numbers. */
  const hasNarrowValue = async (): Promise<boolean> => {
    const { rows } = await client.query<{ types: string }>(
      "SELECT parameter_types::text types FROM pg_prepared_statements WHERE name = 'one'",
    )
    return /\b(integer|smallint|real)\b/.test(rows[0]?.types ?? '')
  }

  it('can be derived from the source code', () => {
    const written = sites.filter(({ place }) => !place.startsWith(BUNDLE_ROWS))
    expect(written.filter(({ unknown }) => unknown.length > 0)).toEqual([])
    expect(written.filter((site) => !site.texts.some((text) => isMeant(text, site)))).toEqual([])
  })

  it.each(ROW_TABLES)('can be prepared for inserting bundle rows into the table %s', async (table) => {
    expect(() => sqlite.prepare(buildInsertSql(table))).not.toThrow()
    await client.query(`PREPARE bundled AS ${dialect.translate(buildInsertSql(table))}`)
    await client.query('DEALLOCATE bundled')
  })

  it('can be prepared by PostgreSQL, with types wide enough for all numbers', async () => {
    const refused: string[] = []
    const narrow: string[] = []
    const prepared = new Set<string>()
    for (const site of sites)
      for (const text of site.texts.filter((one) => isMeant(one, site))) {
        const { place } = site
        const translated = dialect.translate(text)
        if (prepared.has(translated)) continue
        try {
          await client.query(`PREPARE one AS ${translated}`)
          if (await hasNarrowValue()) narrow.push(`${place}: ${translated}`)
          await client.query('DEALLOCATE one')
          prepared.add(translated)
        } catch (error) {
          refused.push(`${place}: ${error instanceof Error ? error.message : error}\n${translated}`)
        }
      }
    expect(refused).toEqual([])
    // a position in a text
    expect(narrow.filter((text) => !/substr\([^()]*\$\d+\)/.test(text))).toEqual([])
    process.stdout.write(
      `FIGURE statements-on-postgres ${JSON.stringify({ places: sites.length, prepared: prepared.size })}\n`,
    )
    expect(prepared.size).toBeGreaterThan(700)
  }, 120_000)
})
