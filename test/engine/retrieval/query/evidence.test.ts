import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { rowsOf } from '../../../helpers/databases.js'
import { ADA, type AskResult, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

let test: TestEngine
let spaceId: string

beforeEach(async () => {
  test = await startEngine()
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: 'notes' })).id
})
afterEach(() => test.end())

const bundleOf = ({ done }: AskResult): EvidenceBundle =>
  (done.metadata as { evidenceBundle: EvidenceBundle }).evidenceBundle

/** Assigns a document to a source that only `readers` may read. */
async function restrict(documentId: string, readers: string[]): Promise<void> {
  const { run } = rowsOf(test.dataDir)
  const columns =
    'id, tenant, space_key, name, type, uri, status, permission_scope, metadata, version, created_at, updated_at'
  await run(
    `INSERT INTO sources (${columns})
     SELECT 'source', tenant, space_key, 'S', 'upload', 'upload:s', 'active', ?, '{}', 1, 0, 0 FROM documents WHERE id = ?`,
    JSON.stringify(readers),
    documentId,
  )
  await run("UPDATE documents SET source_id = 'source' WHERE id = ?", documentId)
}

const SECRET = 'The vault code of the north tower is changed every ninety days by the warden.\n'
const PUBLIC = 'The north tower has a vault and a library that opens at noon.\n'

describe('the evidence of a query', () => {
  it('omits sources that the subject may not read, in every mode, and reports permission-limited', async () => {
    const [secret] = await ingest(test.engine, ADA, spaceId, { 'secret.md': SECRET, 'public.md': PUBLIC })
    await restrict(secret.asset.id, ['grace'])
    const grace = { ...ADA, subject: 'grace' }
    const question = 'How often is the vault code of the north tower changed?'
    for (const mode of ['fast', 'deep', 'research'] as const) {
      const asked = await ask(test.engine, ADA, spaceId, question, { mode })
      expect(JSON.stringify(asked), mode).not.toContain('ninety')
      const bundle = bundleOf(asked)
      expect(bundle.state, mode).toBe('permission-limited')
      expect(bundle.missingEvidence.map(({ reason }) => reason)).toContain('permission-filtered')
      expect(asked.done.metadata?.metrics).toMatchObject({ permissionFilteredCount: 1 })
      const read = await ask(test.engine, grace, spaceId, question, { mode })
      expect(read.answer, mode).toContain('ninety days')
      expect(bundleOf(read).state, mode).toBe('answerable')
    }
  })

  it('reports a conflict if two passages contradict each other and nothing decides between them', async () => {
    await ingest(test.engine, ADA, spaceId, {
      'old.md': 'The harbour channel is kept at a depth of nine metres, 9 m, all year round.\n',
      'new.md': 'The harbour channel is kept at a depth of eleven metres, 11 m, all year round.\n',
    })
    const bundle = bundleOf(
      await ask(test.engine, ADA, spaceId, 'At what depth is the harbour channel kept all year round?'),
    )
    expect(bundle.state).toBe('conflict')
    expect(bundle.items[0].conflicts).toMatchObject([{ nodeId: bundle.items[1].nodeId }])
    expect(bundle.missingEvidence.map(({ reason }) => reason)).toEqual(['conflict'])
  })

  it('reports contradicting dates, numbers, negations and names of two documents as a conflict', async () => {
    const pairs: [string, string, string][] = [
      [
        'When was the Kappel bridge opened?',
        'The Kappel bridge was opened in 1905.',
        'The Kappel bridge was opened in 1922.',
      ],
      ['What is the upload limit?', 'The upload limit is 50 MB.', 'The upload limit is 100 MB.'],
      [
        'Is remote work allowed on Fridays?',
        'Remote work is allowed on Fridays.',
        'Remote work is not allowed on Fridays.',
      ],
      ['Who founded the institute?', 'Doctor Miller founded the institute.', 'Doctor Sanchez founded the institute.'],
    ]
    for (const [place, [question, one, other]] of pairs.entries()) {
      const { id } = await test.engine.spaces.create(ADA, { name: 'Pair', slug: `pair-${place}` })
      await ingest(test.engine, ADA, id, { 'one.md': `# One\n\n${one}`, 'other.md': `# Another\n\n${other}` })
      expect(bundleOf(await ask(test.engine, ADA, id, question)).state, question).toBe('conflict')
    }
  })

  it('lists missing evidence as not-retrieved, and states the freshness of found passages', async () => {
    await ingest(test.engine, ADA, spaceId, { 'public.md': PUBLIC })
    const bundle = bundleOf(await ask(test.engine, ADA, spaceId, 'Who painted the ceiling of the opera house?'))
    expect(bundle.state).toBe('not-enough-evidence')
    expect(bundle.missingEvidence).toMatchObject([{ reason: 'not-retrieved' }])
    const found = bundleOf(await ask(test.engine, ADA, spaceId, 'When does the library of the north tower open?'))
    expect(found.items[0]).toMatchObject({ freshness: 'fresh', scores: { freshness: expect.closeTo(1, 2) } })
  })
})

describe('a session of queries', () => {
  it('completes a follow-up with the earlier questions of the same session, over several turns', async () => {
    await ingest(test.engine, ADA, spaceId, {
      'westerhever.md':
        'The lighthouse of Westerhever was built in 1908. The keeper of Westerhever was Jens Petersen.\n',
      'hiddensee.md': 'The windmill of Hiddensee was built in 1755. The keeper of Hiddensee was Anna Gau.\n',
    })
    const follow = async (about: string): Promise<string[]> => {
      const first = await ask(test.engine, ADA, spaceId, `Where is the ${about}?`)
      const answers: string[] = []
      for (const query of ['When was it built?', 'And who was its keeper?']) {
        const asked = await ask(test.engine, ADA, spaceId, query, { sessionId: first.sessionId })
        expect(asked.sessionId).toBe(first.sessionId)
        answers.push(String(bundleOf(asked).items[0].metadata.filename))
      }
      return answers
    }
    expect(await follow('lighthouse of Westerhever')).toEqual(['westerhever.md', 'westerhever.md'])
    expect(await follow('windmill of Hiddensee')).toEqual(['hiddensee.md', 'hiddensee.md'])
    const alone = await ask(test.engine, ADA, spaceId, 'When was it built?')
    expect(new Set(bundleOf(alone).items.map(({ metadata }) => metadata.filename)).size).toBe(2)
  })
})

describe('the state permission-limited', () => {
  it('applies if only withheld passages match the question, and the answer has no evidence', async () => {
    const [secret] = await ingest(test.engine, ADA, spaceId, { 'secret.md': SECRET })
    await restrict(secret.asset.id, ['grace'])
    const asked = await ask(test.engine, ADA, spaceId, 'How often is the vault code of the north tower changed?')
    expect(bundleOf(asked)).toMatchObject({ state: 'permission-limited', items: [] })
    expect(asked.done.finishReason).toBe('no-retrieval-evidence')
  })
})
