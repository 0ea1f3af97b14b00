import { KsError } from '../../contract/errors.js'
import type { DatabaseAddress } from '../../local/database-address.js'
import type { Driver } from '../store/driver.js'
import { createSearchIndexes } from './indexes.js'
import type { ReplaySource, SearchIndexes } from './ports.js'

/** Where searches run: in an index process of this gateway with files on its disk, or in the database. */
export type SearchBackend = 'index' | 'postgres'

interface OpenIndexesOptions {
  search: SearchBackend | undefined
  /** directory of the index files */
  dir: string
  db: Driver
  /** server of the database; undefined where it is not on a server */
  address: DatabaseAddress | undefined
  gateway: string
  source: ReplaySource
  log: (message: string) => void
  yieldToQueries: () => Promise<void>
}

/** @throws KsError where the database cannot be searched; checked before any query */
export function checkSearchBackend(search: SearchBackend | undefined, address: DatabaseAddress | undefined): void {
  if (search === 'postgres' && address === undefined)
    throw new KsError(
      'invalid-request',
      '--search postgres searches in the database, which must be on a server: give its address with --backend, or start without --search',
    )
}

/** @throws KsError that states what the database lacks */
export async function openSearchIndexes({
  search = 'index',
  dir,
  db,
  address,
  gateway,
  source,
  log,
  yieldToQueries,
}: OpenIndexesOptions): Promise<SearchIndexes> {
  if (search === 'index' || address === undefined) return createSearchIndexes({ dir, source, log, yieldToQueries })
  // loaded only for this backend
  const { createPostgresIndexes } = await import('./postgres/indexes.js')
  return await createPostgresIndexes({ db, address, gateway, source, log, yieldToQueries })
}
