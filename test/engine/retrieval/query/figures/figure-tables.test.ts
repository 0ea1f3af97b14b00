import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PassageCache } from '../../../../../src/engine/knowledge/derived/passage.js'
import { embedForFast, retrieveFast } from '../../../../../src/engine/retrieval/query/fast.js'
import type { SpaceRow } from '../../../../../src/engine/store/rows/spaces.js'
import { openSmallStore, passages, type SmallStore } from '../../../../helpers/store.js'
import { admitted, never, publish, restrict } from '../small-space.js'

const BALANCE =
  'Consolidated Balance Sheets\nAs of | 2022 | 2021\nTotal current assets | $900 | $800\nTotal current liabilities | 90 | 96'
const TALK = Array.from({ length: 40 }, (_, i) => `The quick ratio of Lantern is improving, says note ${i} of many.`)
const QUESTION = 'Is the quick ratio of Lantern improving?'

let store: SmallStore
let space: SpaceRow
beforeAll(async () => {
  store = await openSmallStore()
  space = store.createSpace()
  await publish(store, space, {
    'lantern.md': passages(BALANCE, ...TALK),
    'lantern-secret.md': BALANCE.replaceAll('9', '7'),
  })
  restrict(store, space, ['lantern-secret.md'], 'somebody')
})
afterAll(() => store.end())

async function ask(query: string, profile: object = {}) {
  const asked = admitted(store, space, { profile })
  const scope = { context: store.context, cache: new PassageCache(), admitted: asked, query, signal: never }
  return retrieveFast({ ...scope, observer: {} }, await embedForFast(scope))
}

describe('a question for a financial measure', () => {
  it('ranks the table with the rows of the measure directly after the best passage', async () => {
    const { ranked, metrics } = await ask(QUESTION)
    expect(ranked[0]?.passage.body).toContain('quick ratio')
    expect(ranked[1]?.passage.body).toBe(BALANCE)
    expect(metrics.statementTableCount).toBe(1)
    const finals = ranked.map(({ final }) => final)
    expect(finals).toEqual(finals.toSorted((a, b) => b - a))
  })

  it('returns no table that the caller may not read', async () => {
    const { ranked } = await ask(QUESTION)
    expect(ranked.filter(({ passage }) => passage.filename === 'lantern-secret.md')).toEqual([])
  })

  it('adds no table if the profile disables reranking', async () => {
    const { metrics } = await ask(QUESTION, { rerank: { enabled: false } })
    expect(metrics).not.toHaveProperty('statementTableCount')
  })
})

it('a question that names no financial measure uses no statement tables', async () => {
  const { metrics } = await ask('What does note 7 say of the lantern?')
  expect(metrics).not.toHaveProperty('statementTableCount')
})
