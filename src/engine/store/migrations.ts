import { GOLDEN_RUNS } from './migrations/0049-golden-runs.js'
import { NEXT_FILES } from './migrations/0050-next-files.js'

/** A step from one schema to the next, in the SQL of both databases. */
export interface Migration {
  sqlite: string
  postgres: string
}

/** The oldest schema that is opened. Stores of earlier releases had the schemas before it. */
export const FIRST_SCHEMA = 48

/**
 * The steps after the first schema: step `0049` is `migrations/0049-….ts`. A new store is created with the newest schema
 * (`schema/tables.ts`), so that only existing stores take these steps. A test compares both. A released step never changes.
 */
export const MIGRATIONS: readonly Migration[] = [GOLDEN_RUNS, NEXT_FILES]

/** The schema of this version: `user_version` of a file, `schema_version` of a database on PostgreSQL. */
export const SCHEMA = FIRST_SCHEMA + MIGRATIONS.length

/** @returns why a store of this schema cannot be opened, if so, as the end of a sentence */
export function findSchemaRefusal(schema: number, newest = SCHEMA): string | undefined {
  if (schema > newest) return `this version supports schemas up to ${newest}: use a newer version`
  if (schema >= FIRST_SCHEMA) return undefined
  return `this version opens schema ${FIRST_SCHEMA} and later: export the spaces with \`ks bundle export\` of the version that wrote them and import them into a new store, or start with a new store`
}
