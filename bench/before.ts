/**
 * Compares the cost of a question with another, built checkout: `npm run bench:before -- CHECKOUT [PASSAGES]`. That checkout
 * fills a space; daemons of both run on copies of it and answer the same questions in turns, one at a time and eight at once.
 */
import { join } from 'node:path'
import { askAll, createHttpSide } from './lib/ask.js'
import { makeCorpus } from './lib/corpus.js'
import { type BenchDaemon, KSD, startDaemon, temporaryFolder } from './lib/daemon.js'
import { readProcessorMs } from './lib/process-memory.js'
import { type Figure, percentile, report } from './lib/report.js'
import { waitUntilSettled } from './lib/settled.js'
import { copyStore, loadOrFillStore } from './lib/stores.js'
import { measureInTurns, summarizeRounds } from './lib/turns.js'

const [, , checkout, passages = '100000', storesFolder] = process.argv
if (checkout === undefined) throw new Error('usage: npm run bench:before -- CHECKOUT [PASSAGES] [STORES]')
const PROGRAMS = { before: join(checkout, 'bin', 'ksd.js'), now: KSD }
type Name = keyof typeof PROGRAMS
const NAMES = ['before', 'now'] as const
const WARM_UP = 100
const ROUNDS = 5
const CONCURRENCY = 8
/** what eight at once may do in a second, as a multiple of before (issue: threads and processes by need) */
const CONCURRENT_RATE_BAR = 2

const corpus = makeCorpus(Number(passages))
const home = temporaryFolder('bench-before')
const daemons: Partial<Record<Name, BenchDaemon>> = {}
try {
  const store = await loadOrFillStore(corpus, { folder: storesFolder ?? home.path, program: PROGRAMS.before })
  for (const name of NAMES) {
    const dataDir = copyStore(store, join(home.path, name))
    const daemon = await startDaemon(dataDir, {}, PROGRAMS[name])
    daemons[name] = daemon
    await waitUntilSettled(daemon.client)
    await askAll(daemon.client, store.spaceId, corpus.queries.slice(0, WARM_UP))
  }
  const { before, now } = { before: daemons.before!, now: daemons.now! }
  const client = { before: before.client, now: now.client }
  const indexes = [...corpus.queries.keys()].slice(WARM_UP)
  const cpu = { before: 0, now: 0 }
  const createSide = (name: Name) => async (indexes: number[]) => {
    const startMs = readProcessorMs(daemons[name]!.pid)
    const ms = await createHttpSide(client[name], store.spaceId, corpus.queries)(indexes)
    cpu[name] += readProcessorMs(daemons[name]!.pid) - startMs
    return ms
  }
  const ms = await measureInTurns({ before: createSide('before'), now: createSide('now') }, indexes)
  const rates: Record<Name, number[]> = { before: [], now: [] }
  for (let round = 0; round < ROUNDS; round++)
    for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
      const { seconds } = await askAll(client[name], store.spaceId, corpus.queries.slice(WARM_UP, 400), CONCURRENCY)
      rates[name].push(300 / seconds)
    }
  const pairs = ms.now.map((one, index) => one / ms.before[index]!)
  const figures: Figure[] = [
    { name: 'passages', value: corpus.passages.length, unit: '' },
    { name: 'before, p50', value: percentile(ms.before, 0.5), unit: 'ms' },
    { name: 'now, p50', value: percentile(ms.now, 0.5), unit: 'ms' },
    { name: 'now / before, p50', value: percentile(ms.now, 0.5) / percentile(ms.before, 0.5), unit: '' },
    { name: 'now / before, p95', value: percentile(ms.now, 0.95) / percentile(ms.before, 0.95), unit: '' },
    { name: 'now / before, median of pairs', value: percentile(pairs, 0.5), unit: '', bar: { atMost: 1.1 } },
    { name: 'now / before, processor time', value: cpu.now / cpu.before, unit: '' },
    { name: 'now, processor time a question', value: cpu.now / indexes.length, unit: 'ms' },
    { name: `before, ${CONCURRENCY} at once`, ...summarizeRounds(rates.before), unit: 'queries/s' },
    { name: `now, ${CONCURRENCY} at once`, ...summarizeRounds(rates.now), unit: 'queries/s' },
    {
      name: `now / before, queries/s, ${CONCURRENCY} at once`,
      ...summarizeRounds(rates.now.map((rate, round) => rate / rates.before[round]!)),
      unit: '',
      bar: { atLeast: CONCURRENT_RATE_BAR },
      conditions: 'the other checkout on a copy of the same store, in turns',
    },
  ]
  report('before', figures)
} finally {
  await Promise.all(Object.values(daemons).map((daemon) => daemon.stop()))
  home.remove()
}
