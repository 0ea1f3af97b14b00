import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EvidenceBundle } from '../../../../src/contract/gateway/queries.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

const DOCUMENTS = {
  'urlaub.md': 'Der Urlaubsanspruch beträgt 30 Tage im Jahr.\n',
  'parken.md': 'Die Gebühren für das Parken liegen bei zwei Euro je Stunde.\n',
  'frist.md': 'Die Frist für Bewerbungen endet am 15. März.\n',
  'kuendigung.md': 'Die Kündigungsfrist beträgt drei Monate.\n',
  'teich.md': 'Auf dem Teich schwimmt eine Ente.\n',
}

describe('a question over German documents', () => {
  let test: TestEngine
  let id = ''
  beforeAll(async () => {
    test = await startEngine()
    id = (await test.engine.spaces.create(ADA, { name: 'Amt', slug: 'amt' })).id
    await ingest(test.engine, ADA, id, DOCUMENTS)
  })
  afterAll(() => test.end())

  const asked = async (question: string) => {
    const { answer, done } = await ask(test.engine, ADA, id, question)
    const { evidenceBundle } = done.metadata as { evidenceBundle: EvidenceBundle }
    return { answer, state: evidenceBundle.state, first: evidenceBundle.items[0]?.metadata.filename }
  }

  it('finds the compound of words that it contains separately before a passage with one of these words', async () => {
    const { answer, state, first } = await asked('Wie lang ist die Frist für eine Kündigung?')
    expect(first).toBe('kuendigung.md')
    expect(state).not.toBe('not-enough-evidence')
    expect(answer).toContain('drei Monate')
  })

  it('finds the separate words of a compound that it contains', async () => {
    const { answer, state, first } = await asked('Wie hoch sind die Parkgebühren?')
    expect(first).toBe('parken.md')
    expect(state).not.toBe('not-enough-evidence')
    expect(answer).toContain('zwei Euro')
  })

  it('finds the separate words if it consists of one compound only', async () => {
    expect(await asked('Parkgebühren')).toMatchObject({ first: 'parken.md' })
  })

  it('gets not-enough-evidence if its word occurs only by chance inside of other words', async () => {
    expect(await asked('Wie hoch ist die Rente?')).toMatchObject({ state: 'not-enough-evidence' })
  })
})
