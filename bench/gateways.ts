/**
 * Several gateways on one database: `node scripts/bench.js gateways [NOTES]`. A note is published at one, and the first
 * question after that goes to another: whether it finds the note, and how long it takes beside a plain question there.
 * Needs what the tests of a cluster need: PostgreSQL 15, haproxy.
 */
import { lacking, startDeployment } from '../test/cluster/deployment.js'
import { ask, askAll } from './lib/ask.js'
import { makeCorpus } from './lib/corpus.js'
import { percentile, report } from './lib/report.js'
import { fillSpace, untilPublished, uploadOne } from './lib/upload.js'

const PASSAGES = Number(process.argv[2] ?? 10_000)
const PUBLICATIONS = 100
const WARM_UP = 50
/** the first question may wait until the gateway's own index has followed (issue: more than one machine) */
const FIRST_BAR = 6
const POLL_MS = 5

if (lacking.length > 0) throw new Error(`this machine lacks ${lacking.join(' and ')}`)
const deployment = await startDeployment(2)
try {
  const [here, there] = deployment.gateways
  if (here === undefined || there === undefined) throw new Error('there are fewer than two gateways')
  const corpus = makeCorpus(PASSAGES)
  const { spaceId } = await fillSpace(here.client, 'notes', corpus.files())
  await askAll(there.client, spaceId, corpus.queries.slice(0, WARM_UP))
  const plain: number[] = []
  const first: number[] = []
  const missed: string[] = []
  let found = 0
  for (let round = 0; round < PUBLICATIONS; round++) {
    plain.push((await ask(there.client, spaceId, corpus.queries[WARM_UP + round]!)).ms)
    const word = `zyx${round}qua`
    const bytes = Buffer.from(`# Note ${round}\n\nOnly this note of the whole space speaks of the ${word}.\n`)
    const note = { filename: `${word}.md`, mimeType: 'text/markdown', bytes }
    const documentId = await uploadOne(here.client, spaceId, note)
    await untilPublished(here.client, spaceId, documentId, POLL_MS)
    const { bundle, ms, metadata } = await ask(there.client, spaceId, `What speaks of the ${word}?`)
    first.push(ms)
    const ids = bundle?.items.flatMap(({ citations }) => citations.map((one) => one.documentAssetId)) ?? []
    if (ids.includes(documentId)) found++
    else missed.push(JSON.stringify(metadata['degradations'] ?? 'not degraded'))
  }
  const [one, other] = [percentile(first, 0.5), percentile(plain, 0.5)]
  report('gateways', [
    { name: 'passages', value: PASSAGES, unit: '' },
    {
      name: 'published here, found there',
      value: found,
      unit: `of ${PUBLICATIONS}`,
      bar: { atLeast: PUBLICATIONS },
      ...(missed.length === 0 ? {} : { note: missed.join(', ') }),
    },
    { name: 'a plain question there, p50', value: other, unit: 'ms' },
    { name: 'the first after a publication, p50', value: one, unit: 'ms' },
    { name: 'the first / a plain one, p50', value: one / other, unit: 'x', bar: { atMost: FIRST_BAR } },
    { name: 'the first / a plain one, p95', value: percentile(first, 0.95) / percentile(plain, 0.95), unit: 'x' },
  ])
} finally {
  await deployment.end()
}
