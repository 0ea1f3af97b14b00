import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { ExplainBody } from '../../../../src/contract/gateway/explain.js'
import { SearchBody } from '../../../../src/contract/gateway/search.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

const EVE: Caller = { ...ADA, subject: 'eve' }
const MODES = ['fast', 'deep', 'research'] as const
const OPEN = {
  'zoo.md':
    '# Zoo\n\nThe zebra eats grass in the morning and the lion of Acme sleeps near the rock.\n\nNora Field keeps the zebra.\n',
  'lion.md': '# Lion\n\nThe lion eats meat in the evening. The keeper of the lion is Omar Reed.\n',
}
/** Long documents with many words of the questions below. */
const HIDDEN = {
  'deal.md': `# Deal\n\nAcme buys the zebra of Globex. ${'The acquisition of zebra and grass costs 941 million. '.repeat(40)}\n`,
  'zoo-plan.md': '# Zebra\n\nNora Field leads Globex Holding. The zebra eats 941 lions in the morning.\n',
  'acquisition.md': '# Acquisition\n\nThe lion of Globex Holding eats grass with Omar Reed.\n',
}
/** A document with none of their words. */
const OTHER = { 'plain.md': 'Tides follow the moon.\n' }
const QUESTIONS = [
  'zebra',
  'zebra acquisition',
  'zebra bankruptcy',
  'lion 941',
  'Who keeps the zebra of Acme?',
  'Globex',
  'Nora Field',
]

let test: TestEngine
beforeEach(async () => {
  test = await startEngine()
})
afterEach(() => test.end())

async function spaceWith(slug: string, hidden: Record<string, string>): Promise<{ id: string; zoo: string }> {
  const { engine } = test
  const { id } = await engine.spaces.create(ADA, { name: slug, slug })
  const about = { name: 'S', type: 'upload' as const, uri: 'upload:s', metadata: {} }
  const source = await engine.sources.create(ADA, id, { ...about, permissionScope: ['ada'] })
  if (Object.keys(hidden).length > 0) {
    const upload = await engine.documents.upload(ADA, id, { many: true })
    for (const [filename, text] of Object.entries(hidden))
      await upload.add({ filename, content: Readable.from([Buffer.from(text)]) })
    for (const item of await upload.commit({ sourceId: source.id })) await engine.documents.settled(ADA, id, item)
  }
  const [zoo] = await ingest(engine, ADA, id, OPEN)
  return { id, zoo: zoo?.asset.id ?? '' }
}

/** What differs between two equal runs: ids, times and revisions of the space. */
const OWN = /(?:[0-9a-f]{8}-[0-9a-f-]{27,}|sha256:[0-9a-f]+|[0-9a-f]{64}|\d{4}-\d\d-\d\dT[\d:.]+Z)/g
const TIMES = /(?:Ms|Revision|Version|revision|fingerprint|storedAt|freshness)$/

function comparable(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, one: unknown) => (TIMES.test(key) ? undefined : one)).replace(OWN, 'own'),
  )
}

async function seen({ id, zoo }: { id: string; zoo: string }) {
  const { queries } = test.engine
  const found: Record<string, unknown> = {}
  for (const query of QUESTIONS) {
    for (const mode of MODES) {
      const { answer, done } = await ask(test.engine, EVE, id, query, { mode })
      const { plan: _, ...metadata } = done.metadata ?? {}
      found[`${mode} ${query}`] = comparable({ answer, finishReason: done.finishReason, metadata })
      found[`search ${mode} ${query}`] = comparable(await queries.search(EVE, id, SearchBody.parse({ query, mode })))
      const explained = ExplainBody.parse({ query, documentId: zoo, mode })
      found[`explain ${mode} ${query}`] = comparable(await queries.explain(EVE, id, explained))
    }
  }
  return found
}

it('query, search and explain return the same to a reader regardless of the content of hidden documents', async () => {
  const other = await seen(await spaceWith('other', OTHER))
  const beside = await seen(await spaceWith('beside', HIDDEN))
  for (const [question, found] of Object.entries(other)) expect(beside[question], question).toEqual(found)
})
