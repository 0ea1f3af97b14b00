/**
 * What a question costs over HTTP, mode fast, in spaces of several sizes: one, 8 and 32 at a time; beside LanceDB in
 * process and the bare libraries, in turns; after small uploads beside an untouched copy, in turns; and what a passage
 * costs in memory. `query PASSAGES … [--stores FOLDER] [--rounds 3] [--no-peers] [--no-uploads]`
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { askAll, createHttpSide } from './lib/ask.js'
import { makeCorpus } from './lib/corpus.js'
import { temporaryFolder } from './lib/daemon.js'
import { installPeers } from './lib/peers/install.js'
import { readProcessorMs } from './lib/process-memory.js'
import { measureAfterUploads } from './lib/query/after-uploads.js'
import { compareWithPeers } from './lib/query/beside-peers.js'
import { type BenchSpace, openSpace } from './lib/query/space.js'
import { removeFolder } from './lib/removed-folder.js'
import { type Figure, printFigures, report } from './lib/report.js'
import { loadOrFillStore, type Store } from './lib/stores.js'
import { computePercentile, computeRatio, measureInTurns, summarizeRounds } from './lib/turns.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    stores: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    'no-peers': { type: 'boolean', default: false },
    'no-uploads': { type: 'boolean', default: false },
  },
})
const SIZES = (positionals.length > 0 ? positionals : ['10000', '20000', '100000']).map(Number).sort((a, b) => a - b)
const ROUNDS = Number(values.rounds)
/** Larger spaces are compared only with the previous one: building their peers would take hours. */
const MAX_COMPARED_SIZE = 100_000
/** The size with a bar against LanceDB; other bars are for `MAX_COMPARED_SIZE`. */
const LANCE_SIZE = 20_000
const CONCURRENCIES = [1, 8, 32]
const QUERIES_PER_ROUND = 300
const MEGABYTE = 1e6

const BARS = { tail: 2, larger: 2.5 }

if (!values['no-peers']) installPeers()
const home = temporaryFolder('bench-query')
const figures: Figure[] = []
let previous: BenchSpace | undefined
try {
  for (const size of SIZES) {
    const corpus = makeCorpus(size)
    const store = await loadOrFillStore(corpus, { folder: values.stores ?? home.path })
    const space = await openSpace(corpus, store, join(home.path, `work-${size}`))
    try {
      const measured = [
        ...computeFillFigures(size, store),
        ...(await measureQueries(space)),
        ...(await measureMemory(space)),
      ]
      if (size > MAX_COMPARED_SIZE && previous !== undefined)
        measured.push(...(await compareWithSmaller(space, previous)))
      if (size <= MAX_COMPARED_SIZE) {
        const bars = {
          lance: size === LANCE_SIZE,
          bare: size === MAX_COMPARED_SIZE,
          uploads: size === MAX_COMPARED_SIZE,
        }
        if (!values['no-uploads']) measured.push(...(await measureAfterUploads(space, store, ROUNDS, bars)))
        if (!values['no-peers']) measured.push(...(await compareWithPeers(space, ROUNDS, bars)))
      }
      printFigures(measured)
      figures.push(...measured)
    } finally {
      await previous?.close()
      previous = space
    }
    if (values.stores === undefined) removeFolder(store.dataDir)
  }
  report('query', figures, { keepOthers: true })
} finally {
  await previous?.close()
  home.remove()
}

function computeFillFigures(size: number, { filling }: Store): Figure[] {
  const label = formatSize(size)
  if (filling === undefined) return []
  const { seconds, settledSeconds, published, peaks } = filling
  return [
    { name: `${label}, published`, value: published, unit: '', bar: { atLeast: size } },
    {
      name: `${label}, taken in`,
      value: size / seconds,
      unit: 'passages/s',
      conditions: `over HTTP, 20 to a file; work behind it ended after ${(settledSeconds / seconds).toFixed(2)} times as long`,
    },
    ...(['daemon', 'index', 'parser'] as const).map((role) => ({
      name: `${label}, ${role}'s peak while taking them in`,
      value: peaks[role] / MEGABYTE,
      unit: 'MB',
    })),
  ]
}

async function measureQueries({ corpus, client, spaceId, pid, size }: BenchSpace): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const concurrency of CONCURRENCIES) {
    const rounds = []
    const cpu: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const previous = readProcessorMs(pid)
      rounds.push(await askAll(client, spaceId, corpus.queries.slice(-QUERIES_PER_ROUND), concurrency))
      cpu.push((readProcessorMs(pid) - previous) / QUERIES_PER_ROUND)
    }
    const ms = rounds.map((one) => one.ms)
    const label = `${formatSize(size)}, ${concurrency} at once`
    for (const fraction of [0.5, 0.95, 0.99]) {
      const line = `p${fraction * 100}`
      figures.push({
        name: `${label}, ${line}`,
        ...computePercentile(ms, fraction),
        unit: 'ms',
        ...(fraction < 0.99 || concurrency === 1 ? { conditions: 'over HTTP, to the end of the answer' } : {}),
      })
    }
    const rate = summarizeRounds(rounds.map(({ seconds }) => QUERIES_PER_ROUND / seconds))
    figures.push({ name: label, ...rate, unit: 'queries/s', conditions: `${ROUNDS} rounds of ${QUERIES_PER_ROUND}` })
    figures.push({
      name: `${label}, processor time of a question`,
      ...summarizeRounds(cpu),
      unit: 'ms',
      conditions: 'of the daemon and its processes',
    })
    if (concurrency === 1)
      figures.push({
        name: `${formatSize(size)}, p95 / p50`,
        ...computeRatio(
          ms.map((all) => [computePercentile([all], 0.95).value]),
          ms,
        ),
        unit: '',
        conditions: 'one at a time',
        ...(size === MAX_COMPARED_SIZE ? { bar: { atMost: BARS.tail } } : {}),
      })
  }
  return figures
}

/** Measures the memory of the daemon and its index process after the questions. */
async function measureMemory({ client, size }: BenchSpace): Promise<Figure[]> {
  const { processes = [] } = await client.request('GET /daemon/status', {})
  return (['daemon', 'index'] as const).map((role) => ({
    name: `${formatSize(size)}, ${role}'s memory a passage`,
    value: processes.filter((one) => one.role === role).reduce((sum, { rss }) => sum + rss, 0) / size,
    unit: 'B',
    conditions: 'resident, after the questions',
  }))
}

/** Compares a space with the next smaller one, interleaved. */
async function compareWithSmaller(large: BenchSpace, small: BenchSpace): Promise<Figure[]> {
  const rounds = { large: [] as number[][], small: [] as number[][] }
  const sides = {
    large: createHttpSide(large.client, large.spaceId, large.corpus.queries),
    small: createHttpSide(small.client, small.spaceId, small.corpus.queries),
  }
  for (let round = 0; round < ROUNDS; round++) {
    const times = await measureInTurns(sides, [...large.corpus.queries.keys()].slice(-QUERIES_PER_ROUND))
    rounds.large.push(times.large)
    rounds.small.push(times.small)
  }
  const measureMemoryPerPassage = async ({ client, size }: BenchSpace) =>
    ((await client.request('GET /daemon/status', {})).processes ?? []).reduce((sum, { rss }) => sum + rss, 0) / size
  return [
    {
      name: `${formatSize(large.size)}, p50 / at ${formatSize(small.size)}`,
      ...computeRatio(rounds.large, rounds.small),
      unit: '',
      bar: { atMost: BARS.larger },
      conditions: 'the smaller space, in turns',
    },
    {
      name: `${formatSize(large.size)}, memory a passage / at ${formatSize(small.size)}`,
      value: (await measureMemoryPerPassage(large)) / (await measureMemoryPerPassage(small)),
      unit: '',
      bar: { atMost: 1 },
      conditions: 'resident, all processes',
    },
  ]
}

function formatSize(size: number): string {
  return `${size.toLocaleString('en-US')} passages`
}
