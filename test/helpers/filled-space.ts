import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../src/engine/index.js'
import { type Planted, plant } from '../conformance/planted.js'
import { startEdge } from './daemon.js'
import { ADA, ask, ingest } from './engine.js'
import { until } from './until.js'

const FIXTURES = join(import.meta.dirname, '../fixtures/docs')
/** a document whose artifact does not fit into its row */
const LARGE_PARAGRAPHS = 4000

const LAMPS = `# Lamps

The keeper of the lighthouse fills the lamp with colza oil every evening at sunset.
`

export interface FilledSpace extends Planted {
  /** id of the document about lamps */
  lamps: string
}

/** A space of Ada's with a row in every table of a bundle, a trained model, a large document, and one with pictures. */
export async function createFullSpace(engine: Engine): Promise<FilledSpace> {
  const edge = await startEdge({ engine })
  const planted = await plant(edge)
  const { space } = planted
  const spacePath = `/knowledge-spaces/${space}`
  const call = async (method: string, path: string, json: object) => {
    const response = await edge.send(method, path, { token: edge.tokens.ada, json })
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  }
  const notes = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `note-${n}.md`,
      `# Note ${n}\n\nThe ${WORDS[n % WORDS.length]} of pier ${n} was painted in ${1900 + n} by the crew of boat ${n * 7}.\n`,
    ]),
  )
  const large = Array.from(
    { length: LARGE_PARAGRAPHS },
    (_, n) => `Entry ${n}: ${toHex(n)} ${toHex(n + 7)} ${toHex(n * 31)}.`,
  )
  const [lamps] = await ingest(engine, ADA, space, {
    'lamps.md': LAMPS,
    ...notes,
    'ledger.md': large.join('\n\n'),
    'contains-pictures.docx': readFileSync(join(FIXTURES, 'contains-pictures.docx')),
  })
  await call('PUT', `${spacePath}/retrieval-profile`, {
    defaultMode: 'fast',
    modes: ['fast', 'deep'],
    topK: 9,
    scoreThreshold: 0,
  })
  await call('PATCH', `${spacePath}/retention-policy`, POLICY)
  await call('POST', `${spacePath}/semantic-views/topic/materialize`, { topicName: 'Piers', limit: 10 })
  await call('PUT', `${spacePath}/fs/write`, { path: '/workspaces/audit/notes.md', content: '# Other notes' })
  const { traceId } = await ask(engine, ADA, space, 'Who conducts the orchestra of the guild in Vienna?')
  const { items } = await engine.queries.missing(ADA, traceId, { limit: 10 })
  const itemKey = String(items[0]?.metadata.itemKey)
  const review = { expectedRevision: 0, status: 'dismissed', reason: 'no orchestra' }
  await call('PATCH', `${spacePath}/quality/traces/${traceId}/missing/${encodeURIComponent(itemKey)}`, review)
  await engine.quality.failed.clusters(ADA, space, { limit: 10 })
  await until(async () => (await engine.activity()).backgroundTasks === 0)
  return { ...planted, lamps: lamps?.asset.id ?? '' }
}

const WORDS = ['rail', 'ladder', 'lamp', 'mooring', 'ramp']
const POLICY = {
  answerTraceRetentionDays: 90,
  evidenceCacheRetentionDays: 30,
  inactiveProjectionRetentionDays: 30,
  parseArtifactVersions: 3,
  rawDocumentRetentionDays: null,
  sessionInactivityMinutes: 60,
}

/** Digits that compress badly. */
function toHex(n: number): string {
  return Array.from({ length: 6 }, (_, spacePath) => ((n * 2654435761 + spacePath * 40503) >>> 0).toString(16)).join('')
}
