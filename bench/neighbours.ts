/**
 * One tenant's questions while another tenant's documents are taken in: p99 over HTTP, mode fast, beside the same questions
 * alone, in turns. `neighbours PASSAGES NOTES ROUNDS`
 */
import { join } from 'node:path'
import { Client } from '../src/client/client.js'
import { createToken } from '../src/local/keys.js'
import { askAll } from './lib/ask.js'
import { makeCorpus, makeNotes } from './lib/corpus.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { startIngester } from './lib/ingester.js'
import { type Figure, report } from './lib/report.js'
import { untilSettled } from './lib/settled.js'
import { percentileOf, ratioOf } from './lib/turns.js'
import { fillSpace } from './lib/upload.js'

const [, , passages = '20000', notes = '4000', turns = '3'] = process.argv
const NOTES = Number(notes)
const ROUNDS = Number(turns)
/** a neighbour may be noticed, not suffered from */
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
  const asking = new Client({ url: daemon.url, token: await tokenOf('asking') })
  const token = await tokenOf('ingesting')
  const { spaceId } = await fillSpace(asking, 'passages', corpus.files())
  await untilSettled(daemon.client)
  await askAll(asking, spaceId, queries.slice(0, WARM_UP))
  const alone: number[][] = []
  const beside: number[][] = []
  for (let round = 0; round < ROUNDS; round++) {
    alone.push((await askAll(asking, spaceId, queries)).ms)
    let done = false
    const files = makeNotes(NOTES, SEED + 1 + round)
    const ingested = ingester.ingest({ url: daemon.url, token, slug: `notes-${round}`, files }).finally(() => {
      done = true
    })
    const asked: number[] = []
    for (let place = 0; !done; place = (place + 1) % queries.length)
      asked.push(...(await askAll(asking, spaceId, queries.slice(place, place + 1))).ms)
    beside.push(asked)
    await ingested
    await untilSettled(daemon.client)
  }
  const figures = (name: string, rounds: number[][]): Figure[] =>
    [0.5, 0.95, 0.99].map((share) => ({ name: `${name} p${share * 100}`, ...percentileOf(rounds, share), unit: 'ms' }))
  report('neighbours', [
    ...figures('alone', alone),
    ...figures('beside an ingest', beside),
    { name: 'questions beside', value: beside.flat().length, unit: '' },
    { name: 'longest beside', value: Math.max(...beside.flat()), unit: 'ms' },
    {
      name: "a tenant's p99 beside another's ingest / alone",
      ...ratioOf(beside, alone, 0.99),
      unit: '',
      bar: { atMost: P99_BAR },
      beside: `the same questions alone, in turns; ${corpus.passages.length} passages, one at a time`,
    },
  ])
  asking.close()
} finally {
  await ingester.stop()
  await daemon.stop()
  home.remove()
}

async function tokenOf(tenant: string): Promise<string> {
  const { token } = await createToken(dataDir, { tenant, subject: tenant, scopes: ['knowledge-spaces:*'] })
  return token
}
