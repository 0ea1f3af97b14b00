import { join } from 'node:path'

/** Version of the file layout below. A data directory with a higher one is not opened. */
export const LAYOUT_VERSION = 1

/** Paths of everything in a data directory. */
export interface DataLayout {
  root: string
  version: string
  /** SQLite file that the owning daemon keeps locked; nothing else opens it for writing */
  lock: string
  daemonFile: string
  signingKey: string
  /** encrypts the credentials of sources */
  dataKey: string
  cliToken: string
  config: string
  /** reserved space for what must be written on a full disk */
  reserve: string
  runDir: string
  socket: string
  logsDir: string
  log: string
  databaseDir: string
  database: string
  /** names the server of the database, when that is not local */
  databaseElsewhere: string
  objects: string
  /** id of the store of the objects, and how often it was opened */
  storeFile: string
  /** while this file exists, no object that is unknown to the database is removed; an operator deletes it */
  keepUnknown: string
  /** id of this object folder for a database on a server */
  objectsName: string
  /** location of the objects, when they are not local */
  elsewhere: string
  /** while it is renewed, a backup is being taken and no object is removed */
  pin: string
  /** exists while a backup is being restored into the directory, or after that was interrupted */
  restoring: string
  indexes: string
  /** local models with the program that runs them: downloaded with consent, and safe to download again */
  models: string
}

export function resolveDataLayout(root: string): DataLayout {
  return {
    root,
    version: join(root, 'VERSION'),
    lock: join(root, 'lock'),
    daemonFile: join(root, 'daemon.json'),
    signingKey: join(root, 'signing.key'),
    dataKey: join(root, 'data.key'),
    cliToken: join(root, 'cli.token'),
    config: join(root, 'config.json'),
    reserve: join(root, 'reserve'),
    runDir: join(root, 'run'),
    socket: join(root, 'run', 'sock'),
    logsDir: join(root, 'logs'),
    log: join(root, 'logs', 'daemon.log'),
    databaseDir: join(root, 'db'),
    database: join(root, 'db', 'main.sqlite'),
    databaseElsewhere: join(root, 'db', 'elsewhere'),
    objects: join(root, 'objects'),
    storeFile: join(root, 'objects', 'store.json'),
    keepUnknown: join(root, 'objects', 'keep-unknown'),
    objectsName: join(root, 'db', 'objects-name'),
    elsewhere: join(root, 'objects', 'elsewhere'),
    pin: join(root, 'objects', 'being-copied'),
    restoring: join(root, 'restoring'),
    indexes: join(root, 'indexes'),
    models: join(root, 'models'),
  }
}
