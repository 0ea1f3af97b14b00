import { KsError } from '../../contract/errors.js'
import type { DatabaseAddress } from '../../local/database-address.js'
import type { Driver } from '../storage/driver.js'
import { createSearchIndexes } from './indexes.js'
import type { ReplaySource, SearchIndexes } from './ports.js'

/** Who looks for words and vectors: a process of this gateway with an index on its disk, or the database. */
export type SearchPlace = 'index' | 'postgres'

interface IndexesPlace {
  search: SearchPlace | undefined
  /** where the files of an index are */
  dir: string
  db: Driver
  /** the server that has the database, where one has it */
  address: DatabaseAddress | undefined
  gateway: string
  source: ReplaySource
  log: (message: string) => void
  giveWay: () => Promise<void>
}

/** @throws KsError where the database cannot be searched, before anything of it is asked */
export function checkSearchPlace(search: SearchPlace | undefined, address: DatabaseAddress | undefined): void {
  if (search === 'postgres' && address === undefined)
    throw new KsError(
      'invalid-request',
      '--search postgres looks for words and vectors in the database, which has to be on a server: give its address with --backend, or start without --search',
    )
}

/** @throws KsError that says what the database lacks */
export async function openSearchIndexes({
  search = 'index',
  dir,
  db,
  address,
  gateway,
  source,
  log,
  giveWay,
}: IndexesPlace): Promise<SearchIndexes> {
  if (search === 'index' || address === undefined) return createSearchIndexes({ dir, source, log, giveWay })
  // a gateway with an index of its own never loads it
  const { createPostgresIndexes } = await import('./postgres/indexes.js')
  return await createPostgresIndexes({ db, address, gateway, source, log, giveWay })
}
