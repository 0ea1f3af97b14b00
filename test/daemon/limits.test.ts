import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openEngine } from '../../src/engine/index.js'
import { bodyOf, startEdge, type TestEdge, temporaryDir } from '../helpers/daemon.js'
import { engineOptions } from '../helpers/engine.js'
import { until } from '../helpers/until.js'

const home = temporaryDir()
const quotas: Record<string, number> = {}
let edge: TestEdge
let id = ''

beforeAll(async () => {
  const { limits } = engineOptions(home.path)
  const options = engineOptions(home.path, {
    quotas,
    limits: { ...limits, concurrentQueries: 1, waitingQueries: 1, bulkFiles: 2, bulkBytes: 4000 },
  })
  edge = await startEdge({
    engine: await openEngine(options),
    settings: { bulkFiles: 2, bulkBytes: 4000, uploadBytes: 2000 },
  })
  const json = { name: 'Notes', slug: 'notes' }
  id = (await bodyOf<{ id: string }>(await edge.send('POST', '/knowledge-spaces', { token: edge.tokens.ada, json }))).id
})
afterAll(async () => {
  await edge.engine.close()
  await edge.end()
  home.remove()
})

const send = (method: string, path: string, sent: { json?: unknown; body?: FormData } = {}) =>
  edge.send(method, path, { token: edge.tokens.ada, ...sent })

async function refusal(response: Response) {
  const { error } = await bodyOf<{ error: string }>(response)
  return { status: response.status, code: response.headers.get('x-error-code'), error }
}

function files(...sizes: number[]): FormData {
  const form = new FormData()
  for (const [place, size] of sizes.entries())
    form.append('files', new File([`${place}-${size} `.padEnd(size, 'x')], `${place}-${size}.txt`))
  return form
}

const bulk = (...sizes: number[]) => send('POST', `/knowledge-spaces/${id}/documents/bulk`, { body: files(...sizes) })
const ask = () => send('POST', '/queries', { json: { knowledgeSpaceId: id, query: 'Is anybody here?' } })

describe('an upload above a limit', () => {
  test('gets 413 if it exceeds the number of files or bytes, and is accepted at the limit', async () => {
    expect((await bulk(10, 20)).status).toBe(202)
    expect(await refusal(await bulk(10, 20, 30))).toMatchObject({ status: 413, code: 'upload-too-large' })
    expect((await bulk(2000, 2000)).status).toBe(202)
    expect(await refusal(await bulk(2001))).toMatchObject({ status: 413, code: 'upload-too-large' })
  })

  test('gets 429 if it exceeds the quota of the space; a reindex that exceeds it gets 413', async () => {
    quotas.maxRawDocumentBytes = 4030
    expect(await refusal(await bulk(40))).toEqual({
      status: 429,
      code: 'quota-exceeded',
      error: 'the space would have 4,070 bytes of documents, its quota maxRawDocumentBytes is 4,030',
    })
    await until(
      async () => (await edge.engine.activity()).waitingJobs + (await edge.engine.activity()).activeJobs === 0,
    )
    quotas.maxNodeCount = 4
    const reindex = await send('POST', `/knowledge-spaces/${id}/documents/bulk/reindex`, { json: { all: true } })
    expect(await refusal(reindex)).toMatchObject({ status: 413, code: 'reindex-over-quota' })
    delete quotas.maxNodeCount
  })
})

describe('a query above a limit', () => {
  test('gets 429 with Retry-After if too many are running and waiting', async () => {
    // A response occupies its slot until it is read to its end.
    const answers = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const answer = await ask()
        if (answer.status === 200) await answer.text()
        return answer
      }),
    )
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(2)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) {
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(await refusal(answer)).toMatchObject({ code: 'busy' })
    }
    const later = await ask()
    expect(later.status).toBe(200)
    await later.text()
  })

  test('gets 429 if it exceeds the quota of the space', async () => {
    quotas.maxTraceBytes = 1
    expect(await refusal(await ask())).toMatchObject({ status: 429, code: 'quota-exceeded' })
  })
})

test('a tenant may have 1,000 spaces; creating one more gets 429', { timeout: 120_000 }, async () => {
  const make = (place: number) =>
    send('POST', '/knowledge-spaces', { json: { name: `Space ${place}`, slug: `space-${place}` } })
  for (let from = 1; from < 1000; from += 100) {
    const made = await Promise.all(Array.from({ length: Math.min(100, 1000 - from) }, (_, place) => make(from + place)))
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]))
  }
  expect(await refusal(await make(1000))).toEqual({
    status: 429,
    code: 'capacity-exceeded',
    error: 'a tenant holds at most 1000 knowledge spaces',
  })
})
