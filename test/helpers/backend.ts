import { inject } from 'vitest'

/** The database of engines in this run: `KS_TEST_BACKEND`. Projects without a server always use SQLite. */
export const backend: 'sqlite' | 'pg' =
  process.env.KS_TEST_BACKEND === 'pg' && inject('postgres') !== undefined ? 'pg' : 'sqlite'

/** For tests that only a database file allows. */
export const isFile = backend === 'sqlite'
