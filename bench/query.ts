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
import { untilSettled } from './lib/settled.js'
import { fillSpace } from './lib/upload.js'
import { numbers, prose, queryFrom, zipfWord } from './lib/words.js'

const NODES = Number(process.argv[2] ?? 100_000)
const SECTIONS_A_FILE = 20
/** about 95 words, as a passage of documentation has; a section this long is one node */
const SECTION_CHARACTERS = 600
const QUERIES = 1000
const WARM_UP = 100
const INGESTED_BESIDE = 4000
const AT_ONCE = 300
const BARE_TOP = 10
const SEED = 100_000

/** Stages of a query that its answer tells the time of, ms. */
const STAGES = ['ftsMs', 'denseMs', 'fusionAndRerankMs', 'totalMs'] as const

const random = numbers(SEED)
const sections = Array.from({ length: NODES }, () => prose(random, SECTION_CHARACTERS))
const queries = Array.from({ length: QUERIES }, () => queryFrom(random, sections[Math.floor(random() * NODES)]!))

const home = temporaryFolder('bench-query')
const daemon = await startDaemon(join(home.path, 'data'))
try {
  const { client } = daemon
  const { spaceId } = await fillSpace(client, 'passages', files())
  const { projections } = await client.request('GET /knowledge-spaces/{id}/stats', { path: { id: spaceId } })
  const atOnce = await timeAll(client, spaceId, queries.slice(0, AT_ONCE))
  const settledAfter = await settled(client, spaceId)
  const alone = await timeAll(client, spaceId, queries)
  const beside = await underIngest(client, spaceId)
  const bare = await bareSearch(join(home.path, 'bare'))
  const figures: Figure[] = [
    { name: 'passages', value: projections.fts.ready, unit: '', bar: { atLeast: NODES } },
    ...latencies('right after the ingest, request to end', atOnce.ms),
    { name: 'indexes settled after', value: settledAfter, unit: 's' },
    ...latencies('alone, request to end', alone.ms),
    ...latencies('alone, first byte to end', alone.streamMs, [20, 50]),
    ...STAGES.map((stage) => ({
      name: `alone, ${stage} p50`,
      value: percentile(alone.stages[stage], 0.5),
      unit: 'ms',
    })),
    ...latencies('under ingest, request to end', beside.ms),
    ...latencies('bare text search', bare),
    { name: 'p50 alone / bare text search', value: percentile(alone.ms, 0.5) / percentile(bare, 0.5), unit: '' },
    { name: 'p95 under ingest / alone', value: percentile(beside.ms, 0.95) / percentile(alone.ms, 0.95), unit: '' },
  ]
  report('query', figures)
} finally {
  await daemon.stop()
  if (process.env['KS_BENCH_KEEP'] === undefined) home.remove()
  else process.stderr.write(`kept ${home.path}\n`)
}

function files() {
  return Array.from({ length: Math.ceil(NODES / SECTIONS_A_FILE) }, (_, place) => {
    const inside = sections.slice(place * SECTIONS_A_FILE, (place + 1) * SECTIONS_A_FILE)
    const body = inside.map((text, number) => `## ${zipfWord(random)} ${number}\n\n${text}\n`)
    return { filename: `file-${place}.md`, text: `# ${zipfWord(random)} ${place}\n\n${body.join('\n')}` }
  })
}

interface Times {
  ms: number[]
  streamMs: number[]
  stages: Record<(typeof STAGES)[number], number[]>
}

async function timeAll(client: Client, spaceId: string, asked: Iterable<string>): Promise<Times> {
  const times: Times = { ms: [], streamMs: [], stages: { ftsMs: [], denseMs: [], fusionAndRerankMs: [], totalMs: [] } }
  for (const query of asked) {
    const answer = await ask(client, spaceId, query)
    times.ms.push(answer.ms)
    times.streamMs.push(answer.streamMs)
    const metrics = answer.metadata['metrics'] as Record<string, number>
    for (const stage of STAGES) times.stages[stage].push(metrics[stage] ?? 0)
  }
  return times
}

/** Right after a large ingest the vector graph is still being built; a warm query is one after that. @returns s */
async function settled(client: Client, spaceId: string): Promise<number> {
  const started = performance.now()
  await untilSettled(client)
  await timeAll(client, spaceId, queries.slice(0, WARM_UP))
  return (performance.now() - started) / 1000
}

/** Questions for as long as the notes of another space are being taken in. */
async function underIngest(client: Client, spaceId: string): Promise<Times> {
  const notes = Array.from({ length: INGESTED_BESIDE }, (_, place) => ({
    filename: `note-${place}.md`,
    text: `# note ${place}\n\n${prose(random, SECTION_CHARACTERS)}`,
  }))
  let done = false
  const ingesting = fillSpace(client, 'beside', notes).finally(() => {
    done = true
  })
  function* untilDone() {
    for (let place = 0; !done; place++) yield queries[place % QUERIES]!
  }
  const times = await timeAll(client, spaceId, untilDone())
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

function latencies(name: string, times: number[], bars: number[] = []): Figure[] {
  return [0.5, 0.95, 0.99].map((share, place) => {
    const figure = { name: `${name} p${Math.round(share * 100)}`, value: percentile(times, share), unit: 'ms' }
    const atMost = bars[place]
    return atMost === undefined ? figure : { ...figure, bar: { atMost } }
  })
}
