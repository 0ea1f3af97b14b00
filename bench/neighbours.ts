/**
 * One tenant's questions while another tenant's documents are taken in: p99 over HTTP, mode fast, beside the same questions
 * alone, in turns. `neighbours PASSAGES NOTES ROUNDS`
 */
import { join } from 'node:path'
import { Client } from '../src/client/client.js'
import { createToken } from '../src/local/keys.js'
import { ask } from './lib/ask.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { startIngester } from './lib/ingester.js'
import { percentile, report } from './lib/report.js'
import { untilSettled } from './lib/settled.js'
import { fillSpace, type UploadFile, waitUntilIdle } from './lib/upload.js'
import { numbers, prose, queryFrom, zipfWord } from './lib/words.js'

const [, , passages = '20000', notes = '4000', turns = '3'] = process.argv
const PASSAGES = Number(passages)
const NOTES = Number(notes)
const ROUNDS = Number(turns)
/** a neighbour may be noticed, not suffered from */
const P99_BAR = 3
const SECTIONS_A_FILE = 20
const SECTION_CHARACTERS = 600
const QUERIES_ALONE = 400
const WARM_UP = 100
const SEED = 3_000

const random = numbers(SEED)
const sections = Array.from({ length: PASSAGES }, () => prose(random, SECTION_CHARACTERS))
const queries = Array.from({ length: QUERIES_ALONE }, () =>
  queryFrom(random, sections[Math.floor(random() * PASSAGES)]!),
)

const home = temporaryFolder('bench-neighbours')
const dataDir = join(home.path, 'data')
const daemon = await startDaemon(dataDir)
const ingester = await startIngester(join(home.path, 'ingester'))
try {
  const asking = new Client({ url: daemon.url, token: await tokenOf('asking') })
  const token = await tokenOf('ingesting')
  const { spaceId } = await fillSpace(asking, 'passages', files())
  await settled()
  await timed(asking, spaceId, queries.slice(0, WARM_UP))
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(...(await timed(asking, spaceId, queries)))
    let done = false
    const ingestion = { url: daemon.url, token, slug: `notes-${round}`, files: notesOf(round) }
    const ingested = ingester.ingest(ingestion).finally(() => {
      done = true
    })
    beside.push(...(await timed(asking, spaceId, queries, () => done)))
    await ingested
    await settled()
  }
  const figure = (name: string, times: number[], share: number) => ({
    name: `${name} p${share * 100}`,
    value: percentile(times, share),
    unit: 'ms',
  })
  report('neighbours', [
    ...[0.5, 0.95, 0.99].map((share) => figure('alone', alone, share)),
    ...[0.5, 0.95, 0.99].map((share) => figure('beside an ingest', beside, share)),
    { name: 'questions beside', value: beside.length, unit: '' },
    { name: 'longest beside', value: Math.max(...beside), unit: 'ms' },
    {
      name: 'p99 beside / alone',
      value: percentile(beside, 0.99) / percentile(alone, 0.99),
      unit: '',
      bar: { atMost: P99_BAR },
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

function files(): UploadFile[] {
  return Array.from({ length: Math.ceil(PASSAGES / SECTIONS_A_FILE) }, (_, place) => {
    const inside = sections.slice(place * SECTIONS_A_FILE, (place + 1) * SECTIONS_A_FILE)
    const body = inside.map((text, number) => `## ${zipfWord(random)} ${number}\n\n${text}\n`)
    return { filename: `file-${place}.md`, text: `# ${zipfWord(random)} ${place}\n\n${body.join('\n')}` }
  })
}

function notesOf(round: number): UploadFile[] {
  return Array.from({ length: NOTES }, (_, place) => ({
    filename: `note-${place}.md`,
    text: `# note ${round} ${place}\n\n${prose(random, SECTION_CHARACTERS)}`,
  }))
}

/** Milliseconds of each question, one after the other; with `ended`, again and again until it says so. */
async function timed(client: Client, spaceId: string, asked: string[], ended?: () => boolean): Promise<number[]> {
  const times: number[] = []
  const over = () => (ended === undefined ? times.length >= asked.length : ended())
  while (!over()) times.push((await ask(client, spaceId, asked[times.length % asked.length]!)).ms)
  return times
}

/** Waits until the daemon has had nothing to do for some time: no jobs, no training, no graphs. */
async function settled(): Promise<void> {
  await waitUntilIdle(daemon.client)
  await untilSettled(daemon.client)
}
