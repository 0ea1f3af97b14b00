import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { fillSpace } from '../../bench/lib/upload.js'
import { until } from '../helpers/until.js'

const FILES = 60
const WAIT_MS = 60_000
const TOPICS = ['lighthouse', 'harbour', 'ferry', 'tide', 'anchor', 'sail', 'compass', 'chart', 'beacon', 'buoy']

let home: ReturnType<typeof temporaryFolder>
let daemon: BenchDaemon | undefined
afterEach(async () => {
  await daemon?.kill()
  home.remove()
})

function database<T>(work: (db: Sqlite.Database) => T): T {
  const db = new Sqlite(join(home.path, 'db', 'main.sqlite'))
  try {
    db.pragma('busy_timeout = 5000')
    return work(db)
  } finally {
    db.close()
  }
}

/** Live passages, and those of them with a vector of the current model. */
function counted(): { nodes: number; vectors: number } {
  return database((db) =>
    db
      .prepare<[], { nodes: number; vectors: number }>(
        `SELECT count(*) nodes, count(vectors.node_key) vectors FROM nodes
         JOIN versions ON versions.key = nodes.version_key AND versions.until_revision IS NULL
         JOIN spaces ON spaces.key = nodes.space_key
         LEFT JOIN vector_spaces ON vector_spaces.id = spaces.vector_space AND vector_spaces.state = 'active'
         LEFT JOIN vectors ON vectors.vector_space = vector_spaces.key AND vectors.node_key = nodes.key`,
      )
      .get(),
  ) as { nodes: number; vectors: number }
}

test('after a kill between the switch of the embedding model and the second filling, all passages get a vector', async () => {
  home = temporaryFolder('crash-training')
  daemon = await startDaemon(home.path)
  // The trigger removes vectors at the switch, like those of passages that were compiled during the filling; the second
  // filling is blocked until the process is killed.
  database((db) =>
    db.exec(`
      CREATE TRIGGER behind AFTER UPDATE OF vector_space ON spaces BEGIN
        DELETE FROM vectors WHERE vector_space = (SELECT key FROM vector_spaces WHERE id = NEW.vector_space)
          AND node_key % 7 = 0;
      END;
      CREATE TRIGGER held BEFORE INSERT ON vectors
        WHEN (SELECT state FROM vector_spaces WHERE key = NEW.vector_space) = 'active' BEGIN
        SELECT RAISE(ABORT, 'held');
      END;`),
  )
  const files = Array.from({ length: FILES }, (_, place) => {
    const [one, two] = [TOPICS[place % 10], TOPICS[(place + Math.floor(place / 10)) % 10]]
    return { filename: `n${place}.md`, text: `# The ${one} ${place}\n\nThe ${one} stands beside the ${two}.\n` }
  })
  await fillSpace(daemon.client, 'trained', files)
  await until(() => counted().vectors > 0, WAIT_MS)
  await daemon.kill()
  const left = counted()
  expect(left.vectors).toBeLessThan(left.nodes)
  database((db) => db.exec('DROP TRIGGER behind; DROP TRIGGER held;'))
  daemon = await startDaemon(home.path)
  await until(() => counted().vectors === left.nodes, WAIT_MS)
  process.stdout.write(
    `FIGURE crash-training: passages ${left.nodes}, without a vector after the kill ${left.nodes - left.vectors}, after the start 0\n`,
  )
})
