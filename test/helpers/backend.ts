import { inject } from 'vitest'

/** The database that engines of this run work on: `KS_TEST_BACKEND`. Projects that have no server are on SQLite always. */
export const backend: 'sqlite' | 'pg' =
  process.env.KS_TEST_BACKEND === 'pg' && inject('postgres') !== undefined ? 'pg' : 'sqlite'

/** For tests of what only a file can do or suffer. */
export const isFile = backend === 'sqlite'
