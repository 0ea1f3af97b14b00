import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FailedQuery, FailedQueryClusters, TriageReport } from '../../src/contract/gateway/failed-queries.js'
import { bodyOf, startEdge, type TestEdge } from '../helpers/daemon.js'
import { ADA, ingest } from '../helpers/engine.js'
import { until } from '../helpers/until.js'

let edge: TestEdge
let token = ''

beforeAll(async () => {
  edge = await startEdge()
  token = edge.tokens.ada
})
afterAll(() => edge.end())

test('failed questions are captured, clustered and sorted over HTTP', async () => {
  const made = await edge.send('POST', '/knowledge-spaces', { token, json: { name: 'Works', slug: 'works' } })
  const { id } = await bodyOf<{ id: string }>(made)
  await ingest(edge.engine, ADA, id, {
    'laser.md': '# Laser cutter\n\nThe laser cutter in hall C cuts steel up to 12 millimetres thick.\n',
  })
  const failed = async () =>
    (
      await bodyOf<{ items: FailedQuery[] }>(
        await edge.send('GET', `/knowledge-spaces/${id}/failed-queries`, { token }),
      )
    ).items
  for (const query of ['Who invented the saxophone quartet?', 'By whom was the saxophone quartet invented?']) {
    const before = (await failed()).length
    const answer = await edge.send('POST', '/queries', { token, json: { knowledgeSpaceId: id, query } })
    await answer.text()
    await until(async () => (await failed()).length > before)
  }
  const clusters = await edge.send('GET', `/knowledge-spaces/${id}/failed-queries/clusters`, { token })
  expect((await bodyOf<FailedQueryClusters>(clusters)).clusters).toMatchObject([{ count: 2 }])
  const sorted = await edge.send('POST', `/knowledge-spaces/${id}/failed-queries/triage`, { token })
  expect(sorted.status).toBe(200)
  expect(await bodyOf<TriageReport>(sorted)).toMatchObject({ triaged: 2, verdicts: { irrelevant: 2 } })
  expect(await failed()).toMatchObject([
    { status: 'triaged', metadata: { triage: { triager: 'builtin-evidence' } } },
    { status: 'triaged', metadata: { triage: { triager: 'builtin-evidence' } } },
  ])
})
