import { beforeAll, describe } from 'vitest'
import { createPostgresIndexes } from '../../src/engine/search/postgres/indexes.js'
import { newId } from '../../src/lib/ids.js'
import { type Place, runSearchIndexesSuite } from '../engine/search/search-indexes.suite.js'
import { addressOf, hasVectors, openPostgres, searchableDatabase } from '../helpers/postgres.js'

describe.skipIf(!hasVectors)('search in the database', () => {
  let database: string

  beforeAll(async () => {
    database = await searchableDatabase()
  })

  async function rows(): Promise<Place> {
    const db = await openPostgres(database)
    return {
      textEngine: 'postgres',
      open: (options) => createPostgresIndexes({ db, address: addressOf(database), gateway: newId(), ...options }),
      remove: () => db.close(),
    }
  }

  runSearchIndexesSuite('rows of PostgreSQL', rows)
})
