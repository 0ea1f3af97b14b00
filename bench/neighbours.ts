/**
 * One tenant's questions while another tenant ingests documents, compared with the same questions alone, interleaved: p99
 * over HTTP, mode fast. `neighbours PASSAGES NOTES ROUNDS`
 */
import { join } from 'node:path'
import { Client } from '../src/client/client.js'
import { createToken } from '../src/local/keys.js'
import { askAll } from './lib/ask.js'
import { makeCorpus, makeNotes } from './lib/corpus.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { startIngester } from './lib/ingester.js'
import { type Figure, report } from './lib/report.js'
import { waitUntilSettled } from './lib/settled.js'
import { computePercentile, computeRatio } from './lib/turns.js'
import { fillSpace } from './lib/upload.js'

const [, , passages = '20000', notes = '4000', roundCount = '3'] = process.argv
const NOTES = Number(notes)
const ROUNDS = Number(roundCount)
const P99_BAR = 3
const QUERIES_ALONE = 400
const WARM_UP = 100
const SEED = 3_000

const corpus = makeCorpus(Number(passages), SEED)
const queries = corpus.queries.slice(0, QUERIES_ALONE)
const home = temporaryFolder('bench-neighbours')
const dataDir = join(home.path, 'data')
const daemon = await startDaemon(dataDir)
const ingester = await startIngester(join(home.path, 'ingester'))
try {
  const askingClient = new Client({ url: daemon.url, token: await createTenantToken('asking') })
  const token = await createTenantToken('ingesting')
  const { spaceId } = await fillSpace(askingClient, 'passages', corpus.files())
  await waitUntilSettled(daemon.client)
  await askAll(askingClient, spaceId, queries.slice(0, WARM_UP))
  const alone: number[][] = []
  const duringIngest: number[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    alone.push((await askAll(askingClient, spaceId, queries)).ms)
    let isDone = false
    const files = makeNotes(NOTES, SEED + 1 + round)
    const ingested = ingester.ingest({ url: daemon.url, token, slug: `notes-${round}`, files }).finally(() => {
      isDone = true
    })
    const asked: number[] = []
    for (let index = 0; !isDone; index = (index + 1) % queries.length)
      asked.push(...(await askAll(askingClient, spaceId, queries.slice(index, index + 1))).ms)
    duringIngest.push(asked)
    await ingested
    await waitUntilSettled(daemon.client)
  }
  const computeFigures = (name: string, rounds: number[][]): Figure[] =>
    [0.5, 0.95, 0.99].map((fraction) => ({
      name: `${name} p${fraction * 100}`,
      ...computePercentile(rounds, fraction),
      unit: 'ms',
    }))
  report('neighbours', [
    ...computeFigures('alone', alone),
    ...computeFigures('beside an ingest', duringIngest),
    { name: 'questions beside', value: duringIngest.flat().length, unit: '' },
    { name: 'longest beside', value: Math.max(...duringIngest.flat()), unit: 'ms' },
    {
      name: "a tenant's p99 beside another's ingest / alone",
      ...computeRatio(duringIngest, alone, 0.99),
      unit: '',
      bar: { atMost: P99_BAR },
      conditions: `the same questions alone, in turns; ${corpus.passages.length} passages, one at a time`,
    },
  ])
  askingClient.close()
} finally {
  await ingester.stop()
  await daemon.stop()
  home.remove()
}

async function createTenantToken(tenant: string): Promise<string> {
  const { token } = await createToken(dataDir, { tenant, subject: tenant, scopes: ['knowledge-spaces:*'] })
  return token
}
