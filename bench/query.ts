/**
 * Latency of a question over HTTP, fast mode, in a space of 100,000 passages: alone, and while notes are ingested into
 * another space. The bare text search of the same passages runs in this process for the ratio.
 */
import { join } from 'node:path'
import type { Client } from '../src/client/client.js'
import { analyzeQuery } from '../src/lib/text/analyze.js'
import { ask } from './lib/ask.js'
import { bareTextIndex } from './lib/bare-text.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { type Figure, percentile, report } from './lib/report.js'
import { fillSpace } from './lib/upload.js'
import { numbers, prose, queryFrom, zipfWord } from './lib/words.js'

const NODES = Number(process.argv[2] ?? 100_000)
const SECTIONS_A_FILE = 20
/** about 95 words, as a passage of documentation has; a section this long is one node */
const SECTION_CHARACTERS = 600
const QUERIES = 1000
const WARM_UP = 100
const INGESTED_BESIDE = 4000
const BARE_TOP = 10
const SEED = 100_000

const random = numbers(SEED)
const sections = Array.from({ length: NODES }, () => prose(random, SECTION_CHARACTERS))
const queries = Array.from({ length: QUERIES }, () => queryFrom(random, sections[Math.floor(random() * NODES)]!))

const home = temporaryFolder('bench-query')
const daemon = await startDaemon(join(home.path, 'data'))
try {
  const { client } = daemon
  const { spaceId } = await fillSpace(client, 'passages', files())
  const { projections } = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id: spaceId } })
  await timeAll(client, spaceId, queries.slice(0, WARM_UP))
  const alone = await timeAll(client, spaceId, queries)
  const beside = await underIngest(client, spaceId)
  const bare = await bareSearch(join(home.path, 'bare'))
  const figures: Figure[] = [
    { name: 'passages', value: projections.fts.ready, unit: '', bar: { atLeast: NODES } },
    ...latencies('alone', alone),
    ...latencies('under ingest', beside),
    ...latencies('bare text search', bare),
    { name: 'p50 alone / bare text search', value: percentile(alone, 0.5) / percentile(bare, 0.5), unit: '' },
    { name: 'p95 under ingest / alone', value: percentile(beside, 0.95) / percentile(alone, 0.95), unit: '' },
  ]
  report('query', figures)
} finally {
  await daemon.stop()
  home.remove()
}

function files() {
  return Array.from({ length: Math.ceil(NODES / SECTIONS_A_FILE) }, (_, place) => {
    const inside = sections.slice(place * SECTIONS_A_FILE, (place + 1) * SECTIONS_A_FILE)
    const body = inside.map((text, number) => `## ${zipfWord(random)} ${number}\n\n${text}\n`)
    return { filename: `file-${place}.md`, text: `# ${zipfWord(random)} ${place}\n\n${body.join('\n')}` }
  })
}

async function timeAll(client: Client, spaceId: string, asked: string[]): Promise<number[]> {
  const times: number[] = []
  for (const query of asked) times.push((await ask(client, spaceId, query)).ms)
  return times
}

/** Questions for as long as the notes of another space are being taken in. */
async function underIngest(client: Client, spaceId: string): Promise<number[]> {
  const notes = Array.from({ length: INGESTED_BESIDE }, (_, place) => ({
    filename: `note-${place}.md`,
    text: `# note ${place}\n\n${prose(random, SECTION_CHARACTERS)}`,
  }))
  let done = false
  const ingesting = fillSpace(client, 'beside', notes).finally(() => {
    done = true
  })
  const times: number[] = []
  for (let place = 0; !done; place++) times.push((await ask(client, spaceId, queries[place % QUERIES]!)).ms)
  await ingesting
  return times
}

async function bareSearch(dir: string): Promise<number[]> {
  const index = await bareTextIndex(dir, sections)
  const times: number[] = []
  for (const query of queries) {
    const terms = analyzeQuery(query)
    const started = performance.now()
    await index.search(terms, BARE_TOP)
    times.push(performance.now() - started)
  }
  await index.close()
  return times
}

function latencies(name: string, times: number[]): Figure[] {
  return [0.5, 0.95, 0.99].map((share) => ({
    name: `${name} p${Math.round(share * 100)}`,
    value: percentile(times, share),
    unit: 'ms',
  }))
}
