import { Readable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'
import { type FakeOpenAi, startFakeOpenAi } from '../../../helpers/fake-openai.js'
import { until } from '../../../helpers/until.js'

const MODEL = { pluginId: 'openai-compatible', provider: 'local', model: 'some-model' }
const GRACE: Caller = { ...ADA, subject: 'grace' }
const QUESTION = 'How often is the vault code of the north tower changed?'
const SECRET = 'The vault code of the north tower is changed every ninety days by the warden.\n'
const LIMITED = ['permission-limited', ['permission-filtered']] as const
const MODES = ['fast', 'deep', 'research'] as const

let fake: FakeOpenAi
let test: TestEngine
let spaceId: string
let reply = ''

let spaces = 0

beforeAll(async () => {
  fake = await startFakeOpenAi({ answer: () => reply })
  const { pluginId, provider } = MODEL
  test = await startEngine({ providers: [{ pluginId, provider, baseUrl: fake.url, timeoutMs: 5000 }] })
})
beforeEach(async () => {
  spaceId = (await test.engine.spaces.create(ADA, { name: 'Notes', slug: `notes-${spaces++}` })).id
})
afterAll(async () => {
  await test.end()
  await fake.close()
})

/** Uploads documents that only Grace may read. */
async function hide(files: Record<string, string>): Promise<void> {
  const { documents, sources } = test.engine
  const about = { name: 'S', type: 'upload' as const, uri: 'upload:s', metadata: {} }
  const source = await sources.create(GRACE, spaceId, { ...about, permissionScope: ['grace'] })
  const upload = await documents.upload(GRACE, spaceId, { many: true })
  for (const [filename, text] of Object.entries(files))
    await upload.add({ filename, content: Readable.from([Buffer.from(text)]) })
  for (const item of await upload.commit({ sourceId: source.id })) await documents.settled(GRACE, spaceId, item)
}

async function asked(caller: Caller, query: string, mode: (typeof MODES)[number]) {
  const { answer, done } = await ask(test.engine, caller, spaceId, query, { mode })
  const { evidenceBundle: bundle } = done.metadata as { evidenceBundle: EvidenceBundle }
  return { answer, state: bundle.state, missing: bundle.missingEvidence.map(({ reason }) => reason) }
}

const setModel = () =>
  test.engine.spaces.setRetrievalProfile(ADA, spaceId, {
    defaultMode: 'fast',
    modes: [...MODES],
    topK: 10,
    scoreThreshold: 0,
    rerank: { enabled: true },
    reasoningModel: MODEL,
  })

describe('the state permission-limited', () => {
  /** A passage whose words seem to answer, but do not. */
  const DECOY = 'A code of the tower in the north is changed often, and so is the vault.\n'

  it('applies if a model declines the readable passages, whatever words they share with the question', async () => {
    await hide({ 'secret.md': `${QUESTION} ${SECRET}` })
    await ingest(test.engine, ADA, spaceId, { 'decoy.md': DECOY })
    await setModel()
    for (const mode of MODES) {
      reply = 'The passages do not say how often [1].'
      const limited = await asked(ADA, QUESTION, mode)
      expect([limited.state, limited.missing], mode).toEqual(LIMITED)
      expect((await asked(GRACE, QUESTION, mode)).state, mode).toBe('answerable')
    }
  })

  it('applies to research reports if a model declines the readable passages', async () => {
    await hide({ 'secret.md': `${QUESTION} ${SECRET}` })
    await ingest(test.engine, ADA, spaceId, { 'decoy.md': DECOY })
    await setModel()
    reply = 'The passages do not say how often.'
    const { research } = test.engine
    const report = async (caller: Caller) => {
      const task = await research.create(caller, { knowledgeSpaceId: spaceId, query: QUESTION, mode: 'fast' })
      await until(async () => (await research.get(caller, task.id)).stage === 'completed')
      return research.report(caller, task.id)
    }
    expect((await report(ADA)).state).toBe('permission-limited')
    expect((await report(GRACE)).state).toBe('answerable')
  })

  it('does not apply if withheld passages do not match the question, or readable passages answer it', async () => {
    await hide({ 'secret.md': 'The warden of the opera house keeps nine cats and a ladder.\n' })
    await ingest(test.engine, ADA, spaceId, { 'public.md': SECRET })
    for (const mode of MODES) {
      const { state, missing } = await asked(ADA, 'Who painted the ceiling of the opera house in Vienna?', mode)
      expect([state, missing], mode).toEqual(['not-enough-evidence', ['not-retrieved']])
      expect(await asked(ADA, QUESTION, mode), mode).toMatchObject({ state: 'answerable', missing: [] })
    }
  })

  it.each([
    [
      'Which length does the VPN password policy require?',
      'The VPN password policy requires a length of 14 characters.\n',
      'The wifi password policy requires a length of 8 characters.\n',
    ],
    [
      'How long is the notice period of the lease for the warehouse in Bremen?',
      'The notice period of the lease for the warehouse in Bremen is nine months.\n',
      'The notice period of the lease for the office in Hamburg is three months.\n',
    ],
    [
      'What dose of amoxicillin do children with otitis receive each day?',
      'Children with otitis receive a dose of 80 mg of amoxicillin per kilogram each day.\n',
      'Children with fever receive a dose of 30 mg of paracetamol per kilogram each day.\n',
    ],
    [
      'Wie viele Urlaubstage bekommen Auszubildende im zweiten Lehrjahr?',
      'Auszubildende bekommen im zweiten Lehrjahr 28 Urlaubstage.\n',
      'Angestellte bekommen im zweiten Dienstjahr 30 Urlaubstage.\n',
    ],
  ])(
    'applies, or else not-enough-evidence, if the readable passages only resemble the answer: %s',
    async (question, secret, decoy) => {
      await hide({ 'secret.md': secret })
      await ingest(test.engine, ADA, spaceId, {
        'decoy.md': decoy,
        'other.md': 'The canteen opens at noon on all days.\n',
      })
      for (const mode of MODES) {
        const { state, answer } = await asked(ADA, question, mode)
        expect(['permission-limited', 'not-enough-evidence'], mode).toContain(state)
        if (state === 'permission-limited' && answer.includes('[1]'))
          expect(answer, mode).toMatch(/^Closest passages:\n\n/)
        expect((await asked(GRACE, question, mode)).state, mode).toBe('answerable')
      }
    },
  )

  it('reveals neither words nor values of withheld passages', async () => {
    await hide({ 'deal.md': '# Deal\n\nWe buy Acme. The acquisition costs 941 million and closes on Tuesday.\n' })
    await ingest(test.engine, ADA, spaceId, { 'zoo.md': 'The zebra eats grass in the morning.\n' })
    const learn = async (query: string, mode: (typeof MODES)[number]) => {
      const { done } = await ask(test.engine, ADA, spaceId, query, { mode })
      const { evidenceBundle: bundle, metrics = {} } = done.metadata as Record<string, never>
      const { state, missingEvidence } = bundle as EvidenceBundle
      return [
        state,
        missingEvidence.map(({ reason }) => reason),
        (metrics as Record<string, unknown>).permissionFilteredCount,
      ]
    }
    const nothing = ['not-enough-evidence', ['not-retrieved'], 0]
    for (const mode of MODES) {
      for (const word of [
        'acquisition',
        'acquisition?',
        'bankruptcy',
        'What is 941?',
        '941',
        '942',
        'Acme acquisition',
        'Is it Tuesday?',
      ])
        expect(await learn(word, mode), `${mode} ${word}`).toEqual(nothing)
      const valued = (value: number) => learn(`Does the acquisition of Acme cost ${value} million?`, mode)
      expect(await valued(942), mode).toEqual(await valued(941))
    }
  })

  it('does not apply if many withheld passages outrank a readable passage that answers', async () => {
    const many = Array.from({ length: 420 }, (_, n) => [`ledger-${n}.md`, `Ledger ${n}. ${QUESTION} ${QUESTION}\n`])
    await hide(Object.fromEntries(many))
    const filler = 'The keepers of the harbour write down the tide, the wind and the names of all ships. '
    await ingest(test.engine, ADA, spaceId, { 'open.md': `${filler.repeat(6)}\n\n${SECRET}\n${filler.repeat(6)}` })
    for (const mode of ['fast', 'deep'] as const) {
      const found = await asked(ADA, QUESTION, mode)
      expect(found.answer, mode).toContain('ninety days')
      expect(found.state, mode).toBe('answerable')
    }
  })

  it('does not apply in mode research if many withheld documents outrank a readable one that answers', async () => {
    const many = Array.from({ length: 24 }, (_, n) => [`the-vault-code-of-the-north-tower-${n}.md`, `${QUESTION}\n`])
    await hide(Object.fromEntries(many))
    await ingest(test.engine, ADA, spaceId, { 'open.md': `${'The keepers meet at noon. '.repeat(30)}\n\n${SECRET}` })
    const found = await asked(ADA, QUESTION, 'research')
    expect(found.answer).toContain('ninety days')
    expect(found.state).toBe('answerable')
  })
})
