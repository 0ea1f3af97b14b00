import { join } from 'node:path'

/** Version of the arrangement of files below. A data directory of a higher one is not opened. */
export const LAYOUT_VERSION = 1

/** Names of everything in a data directory. */
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
  /** room that is kept for what must be written on a full disk */
  reserve: string
  runDir: string
  socket: string
  logsDir: string
  log: string
  databaseDir: string
  database: string
  /** says which server has the database, when it is not here */
  databaseElsewhere: string
  objects: string
  /** says which store the objects are of, and how often it was opened */
  storeFile: string
  /** while it is there, no object goes that the database does not know; a person removes it */
  keepUnknown: string
  /** names this folder of objects to a database on a server */
  objectsName: string
  /** says where the objects are, when they are not here */
  elsewhere: string
  /** while it is renewed, a backup is being taken and no object goes */
  pin: string
  /** while it is there, a backup is being restored into the directory, or that was cut off */
  restoring: string
  indexes: string
  /** models of this machine with the program that runs them: fetched on consent, and safe to fetch again */
  models: string
}

export function dataLayout(root: string): DataLayout {
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
