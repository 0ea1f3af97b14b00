import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EvidenceBundle, TermCorrection } from '../../../../src/contract/gateway/queries.js'
import { SearchBody } from '../../../../src/contract/gateway/search.js'
import type { Caller } from '../../../../src/engine/base/caller.js'
import { findCorrections } from '../../../../src/engine/retrieval/query/recall.js'
import { analyzeQuery } from '../../../../src/lib/text/analyze.js'
import { ADA, ask, ingest, startEngine, type TestEngine } from '../../../helpers/engine.js'

const EVE: Caller = { ...ADA, subject: 'eve' }
const DOCUMENTS = {
  'alarm.md': '# Smoke detectors\n\nThe battery alarm beeps every minute until the battery is replaced.\n',
  'shop.md': '# Shop\n\nThe owner of the bakery is Ida Keller. She opens at seven.\n',
  'horse.md': '# Stable\n\nThe house beside the stable belongs to Merit Holm.\n',
  'rollout.md': '# Release\n\nThe accommodation of new colleagues is arranged by the office.\n',
}
/** Only Ada may read this document. */
const HIDDEN = { 'deal.md': 'The acquisition costs four million.\n' }

let test: TestEngine
let id = ''
beforeAll(async () => {
  test = await startEngine()
  const { engine } = test
  id = (await engine.spaces.create(ADA, { name: 'Town', slug: 'town' })).id
  const about = { name: 'S', type: 'upload' as const, uri: 'upload:s', metadata: {} }
  const source = await engine.sources.create(ADA, id, { ...about, permissionScope: ['ada'] })
  const upload = await engine.documents.upload(ADA, id, { many: true })
  for (const [filename, text] of Object.entries(HIDDEN))
    await upload.add({ filename, content: Readable.from([Buffer.from(text)]) })
  for (const item of await upload.commit({ sourceId: source.id })) await engine.documents.settled(ADA, id, item)
  await ingest(engine, ADA, id, DOCUMENTS)
})
afterAll(() => test.end())

const asked = async (question: string) => {
  const { answer, done } = await ask(test.engine, ADA, id, question)
  const { evidenceBundle, searchedFor } = done.metadata as {
    evidenceBundle: EvidenceBundle
    searchedFor?: TermCorrection[]
  }
  return { answer, searchedFor, state: evidenceBundle.state, first: evidenceBundle.items[0]?.metadata.filename }
}
const searched = async (query: string, caller = ADA) =>
  (await test.engine.queries.search(caller, id, SearchBody.parse({ query }))).searchedFor

describe('a word of a question that no passage contains', () => {
  it('finds passages with its correct spelling, and answers and searches report the correction', async () => {
    const found = await asked('when does the batery alram beep?')
    expect(found.first).toBe('alarm.md')
    expect(found.state).not.toBe('not-enough-evidence')
    expect(found.answer).toContain('every minute')
    const words = [
      { asked: 'batery', searched: 'battery' },
      { asked: 'alram', searched: 'alarm' },
    ]
    expect(found.searchedFor).toEqual(words)
    expect(await searched('batery alram')).toEqual(words)
  })

  it('gets a correction despite two typos if it has eight letters or more', async () => {
    expect(await searched('who arranges acomodation')).toEqual([{ asked: 'acomodation', searched: 'accommodation' }])
  })

  it('finds passages with another word of the same derivation', async () => {
    const found = await asked('who owns the bakery?')
    expect(found).toMatchObject({ first: 'shop.md', searchedFor: [{ asked: 'owns', searched: 'owner' }] })
    expect(found.answer).toContain('Ida Keller')
  })

  it.each([
    ['a common word', 'what does the horse eat?'],
    ['a name', 'What does Marit own in the stable?'],
    ['a code', 'battery al4rm'],
    ['a word of three letters', 'bat alm'],
    ['the first part of a contraction', "the alrm't"],
    ['similar to no word of the space', 'xylophone'],
  ])('stays uncorrected if it is %s', async (_, question) => {
    const words = (await searched(question)) ?? []
    expect(words.map(({ searched }) => searched).join(' ')).not.toMatch(/house|merit|alarm/)
  })

  it('gets corrections only from passages that the reader may read', async () => {
    expect(await searched('aquisition')).toEqual([{ asked: 'aquisition', searched: 'acquisition' }])
    expect(await searched('aquisition', EVE)).toBeUndefined()
    expect(await searched('batery', EVE)).toEqual([{ asked: 'batery', searched: 'battery' }])
  })
})

it('the search for corrections looks up no term if passages contain every word of the question', async () => {
  const terms = analyzeQuery('battery alarm')
  const known = { frequencies: new Map(terms.map((term) => [term, 1])), rewordings: [] }
  expect(await findCorrections('battery alarm', known, () => Promise.reject(new Error('looked up')))).toEqual([])
})
