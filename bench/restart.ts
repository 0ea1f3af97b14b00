/**
 * From `kill -9` to the first answered question in a space of 50,000 small documents: the new daemon is started at once,
 * as `ks` does, and asked as soon as it listens. The documents are rows that one real document was multiplied to.
 * `restart DOCUMENTS ROUNDS`
 */
import { join } from 'node:path'
import { ask } from './lib/ask.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { multiplyDocuments } from './lib/many-documents.js'
import { percentile, report } from './lib/report.js'
import { untilSettled } from './lib/settled.js'
import { fillSpace } from './lib/upload.js'
import { numbers, prose, queryFrom } from './lib/words.js'

const DOCUMENTS = Number(process.argv[2] ?? 50_000)
const ROUNDS = Number(process.argv[3] ?? 5)
/** what somebody waits for a program that starts */
const RESTART_BAR_S = 5
const TEXT_CHARACTERS = 600
const SEED = 50_001
const QUIET_MS = 5000
/** both indexes are built and a model is trained, once */
const SETTLE_LIMIT_MS = 1_800_000

const home = temporaryFolder('bench-restart')
const dataDir = join(home.path, 'data')
let daemon = await startDaemon(dataDir)
try {
  const random = numbers(SEED)
  const text = prose(random, TEXT_CHARACTERS)
  const { spaceId } = await fillSpace(daemon.client, 'many', [{ filename: 'note-0.md', text }])
  await daemon.stop()
  multiplyDocuments(dataDir, DOCUMENTS)
  daemon = await startDaemon(dataDir)
  await ask(daemon.client, spaceId, queryFrom(random, text))
  await untilSettled(daemon.client, QUIET_MS, SETTLE_LIMIT_MS)
  const { storage } = await daemon.client.request('GET /knowledge-spaces/{id}/stats', { path: { id: spaceId } })
  const listening: number[] = []
  const answered: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await daemon.kill()
    const started = performance.now()
    daemon = await startDaemon(dataDir)
    listening.push((performance.now() - started) / 1000)
    await ask(daemon.client, spaceId, queryFrom(random, prose(random, TEXT_CHARACTERS)))
    answered.push((performance.now() - started) / 1000)
    await untilSettled(daemon.client, QUIET_MS, SETTLE_LIMIT_MS)
  }
  const name = 'kill -9 to the first answer'
  report('restart', [
    { name: 'documents', value: storage.documentCount, unit: '', bar: { atLeast: DOCUMENTS } },
    { name: 'kill -9 to listening', value: percentile(listening, 0.5), unit: 's' },
    { name, value: percentile(answered, 0.5), unit: 's', bar: { atMost: RESTART_BAR_S } },
    { name: `${name}, longest`, value: Math.max(...answered), unit: 's' },
  ])
} finally {
  await daemon.stop()
  home.remove()
}
