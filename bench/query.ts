/**
 * What a question costs over HTTP, mode fast, in spaces of several sizes: one, 8 and 32 at a time; beside LanceDB in
 * process and the bare libraries, in turns; after small uploads beside an untouched copy, in turns; and what a passage
 * costs in memory. `query PASSAGES … [--stores FOLDER] [--rounds 3] [--no-peers] [--no-uploads]`
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { askAll, overHttp } from './lib/ask.js'
import { makeCorpus } from './lib/corpus.js'
import { temporaryFolder } from './lib/daemon.js'
import { installPeers } from './lib/peers/install.js'
import { processorMs } from './lib/process-memory.js'
import { afterUploads } from './lib/query/after-uploads.js'
import { besideItsPeers } from './lib/query/beside-peers.js'
import { openSpace, type Space } from './lib/query/space.js'
import { removeFolder } from './lib/removed-folder.js'
import { type Figure, printFigures, report } from './lib/report.js'
import { type Store, storeOf } from './lib/stores.js'
import { acrossRounds, inTurns, percentileOf, ratioOf } from './lib/turns.js'

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
/** Larger spaces are asked beside the one before, and beside nothing else: their peers would take hours to build. */
const LARGEST_COMPARED = 100_000
/** The size at which LanceDB is the bar; the others are held at the largest that is compared. */
const LANCE_SIZE = 20_000
const AT_ONCE = [1, 8, 32]
const QUERIES_A_ROUND = 300
const MEGABYTE = 1e6

const BARS = { tail: 2, larger: 2.5 }

if (!values['no-peers']) installPeers()
const home = temporaryFolder('bench-query')
const figures: Figure[] = []
let before: Space | undefined
try {
  for (const size of SIZES) {
    const corpus = makeCorpus(size)
    const store = await storeOf(corpus, { folder: values.stores ?? home.path })
    const space = await openSpace(corpus, store, join(home.path, `work-${size}`))
    try {
      const measured = [...fillingOf(size, store), ...(await asked(space)), ...(await memoryOf(space))]
      if (size > LARGEST_COMPARED && before !== undefined) measured.push(...(await besideSmaller(space, before)))
      if (size <= LARGEST_COMPARED) {
        const bars = { lance: size === LANCE_SIZE, bare: size === LARGEST_COMPARED, uploads: size === LARGEST_COMPARED }
        if (!values['no-uploads']) measured.push(...(await afterUploads(space, store, ROUNDS, bars)))
        if (!values['no-peers']) measured.push(...(await besideItsPeers(space, ROUNDS, bars)))
      }
      printFigures(measured)
      figures.push(...measured)
    } finally {
      await before?.close()
      before = space
    }
    if (values.stores === undefined) removeFolder(store.dataDir)
  }
  report('query', figures, { keepOthers: true })
} finally {
  await before?.close()
  home.remove()
}

function fillingOf(size: number, { filling }: Store): Figure[] {
  const shown = passages(size)
  if (filling === undefined) return []
  const { seconds, settledSeconds, published, peaks } = filling
  return [
    { name: `${shown}, published`, value: published, unit: '', bar: { atLeast: size } },
    {
      name: `${shown}, taken in`,
      value: size / seconds,
      unit: 'passages/s',
      beside: `over HTTP, 20 to a file; work behind it ended after ${(settledSeconds / seconds).toFixed(2)} times as long`,
    },
    ...(['daemon', 'index', 'parser'] as const).map((role) => ({
      name: `${shown}, ${role}'s peak while taking them in`,
      value: peaks[role] / MEGABYTE,
      unit: 'MB',
    })),
  ]
}

async function asked({ corpus, client, spaceId, pid, size }: Space): Promise<Figure[]> {
  const found: Figure[] = []
  for (const atOnce of AT_ONCE) {
    const rounds = []
    const cpu: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const before = processorMs(pid)
      rounds.push(await askAll(client, spaceId, corpus.queries.slice(-QUERIES_A_ROUND), atOnce))
      cpu.push((processorMs(pid) - before) / QUERIES_A_ROUND)
    }
    const ms = rounds.map((one) => one.ms)
    const shown = `${passages(size)}, ${atOnce} at once`
    for (const share of [0.5, 0.95, 0.99]) {
      const line = `p${share * 100}`
      found.push({
        name: `${shown}, ${line}`,
        ...percentileOf(ms, share),
        unit: 'ms',
        ...(share < 0.99 || atOnce === 1 ? { beside: 'over HTTP, to the end of the answer' } : {}),
      })
    }
    const rate = acrossRounds(rounds.map(({ seconds }) => QUERIES_A_ROUND / seconds))
    found.push({ name: shown, ...rate, unit: 'queries/s', beside: `${ROUNDS} rounds of ${QUERIES_A_ROUND}` })
    found.push({
      name: `${shown}, processor time of a question`,
      ...acrossRounds(cpu),
      unit: 'ms',
      beside: 'of the daemon and its processes',
    })
    if (atOnce === 1)
      found.push({
        name: `${passages(size)}, p95 / p50`,
        ...ratioOf(
          ms.map((all) => [percentileOf([all], 0.95).value]),
          ms,
        ),
        unit: '',
        beside: 'one at a time',
        ...(size === LARGEST_COMPARED ? { bar: { atMost: BARS.tail } } : {}),
      })
  }
  return found
}

/** What the daemon and its index process hold after the questions. */
async function memoryOf({ client, size }: Space): Promise<Figure[]> {
  const { processes = [] } = await client.request('GET /daemon/status', {})
  return (['daemon', 'index'] as const).map((role) => ({
    name: `${passages(size)}, ${role}'s memory a passage`,
    value: processes.filter((one) => one.role === role).reduce((sum, { rss }) => sum + rss, 0) / size,
    unit: 'B',
    beside: 'resident, after the questions',
  }))
}

/** A space beside the next smaller one, in turns: what another minute of the machine would have blurred. */
async function besideSmaller(large: Space, small: Space): Promise<Figure[]> {
  const rounds = { large: [] as number[][], small: [] as number[][] }
  const sides = {
    large: overHttp(large.client, large.spaceId, large.corpus.queries),
    small: overHttp(small.client, small.spaceId, small.corpus.queries),
  }
  for (let round = 0; round < ROUNDS; round++) {
    const times = await inTurns(sides, [...large.corpus.queries.keys()].slice(-QUERIES_A_ROUND))
    rounds.large.push(times.large)
    rounds.small.push(times.small)
  }
  const held = async ({ client, size }: Space) =>
    ((await client.request('GET /daemon/status', {})).processes ?? []).reduce((sum, { rss }) => sum + rss, 0) / size
  return [
    {
      name: `${passages(large.size)}, p50 / at ${passages(small.size)}`,
      ...ratioOf(rounds.large, rounds.small),
      unit: '',
      bar: { atMost: BARS.larger },
      beside: 'the smaller space, in turns',
    },
    {
      name: `${passages(large.size)}, memory a passage / at ${passages(small.size)}`,
      value: (await held(large)) / (await held(small)),
      unit: '',
      bar: { atMost: 1 },
      beside: 'resident, all processes',
    },
  ]
}

function passages(size: number): string {
  return `${size.toLocaleString('en-US')} passages`
}
