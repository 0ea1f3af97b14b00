/**
 * What a question costs beside another checkout of this project: `npm run bench:before -- CHECKOUT [PASSAGES]`. The other
 * checkout, which has to be built, fills a space; its store is copied, and both daemons work on one. Questions are asked
 * of both in turns, one at a time and eight at once, so that whatever else the machine does slows both.
 */
import { join } from 'node:path'
import { askAll, overHttp } from './lib/ask.js'
import { makeCorpus } from './lib/corpus.js'
import { type BenchDaemon, KSD, startDaemon, temporaryFolder } from './lib/daemon.js'
import { processorMs } from './lib/process-memory.js'
import { type Figure, percentile, report } from './lib/report.js'
import { untilSettled } from './lib/settled.js'
import { copyStore, storeOf } from './lib/stores.js'
import { acrossRounds, inTurns } from './lib/turns.js'

const [, , other, passages = '100000', kept] = process.argv
if (other === undefined) throw new Error('usage: npm run bench:before -- CHECKOUT [PASSAGES] [STORES]')
const PROGRAMS = { before: join(other, 'bin', 'ksd.js'), now: KSD }
type Name = keyof typeof PROGRAMS
const NAMES = ['before', 'now'] as const
const WARM_UP = 100
const ROUNDS = 5
const AT_ONCE = 8
/** what eight at once may do in a second, as a multiple of before (issue: threads and processes by need) */
const AT_ONCE_BAR = 2

const corpus = makeCorpus(Number(passages))
const home = temporaryFolder('bench-before')
const daemons: Partial<Record<Name, BenchDaemon>> = {}
try {
  const store = await storeOf(corpus, { folder: kept ?? home.path, program: PROGRAMS.before })
  for (const name of NAMES) {
    const dataDir = copyStore(store, join(home.path, name))
    const daemon = await startDaemon(dataDir, {}, PROGRAMS[name])
    daemons[name] = daemon
    await untilSettled(daemon.client)
    await askAll(daemon.client, store.spaceId, corpus.queries.slice(0, WARM_UP))
  }
  const { before, now } = { before: daemons.before!, now: daemons.now! }
  const client = { before: before.client, now: now.client }
  const places = [...corpus.queries.keys()].slice(WARM_UP)
  const cpu = { before: 0, now: 0 }
  const side = (name: Name) => async (asked: number[]) => {
    const began = processorMs(daemons[name]!.pid)
    const ms = await overHttp(client[name], store.spaceId, corpus.queries)(asked)
    cpu[name] += processorMs(daemons[name]!.pid) - began
    return ms
  }
  const ms = await inTurns({ before: side('before'), now: side('now') }, places)
  const rates: Record<Name, number[]> = { before: [], now: [] }
  for (let round = 0; round < ROUNDS; round++)
    for (const name of round % 2 === 0 ? NAMES : NAMES.toReversed()) {
      const { seconds } = await askAll(client[name], store.spaceId, corpus.queries.slice(WARM_UP, 400), AT_ONCE)
      rates[name].push(300 / seconds)
    }
  const pairs = ms.now.map((one, place) => one / ms.before[place]!)
  const figures: Figure[] = [
    { name: 'passages', value: corpus.passages.length, unit: '' },
    { name: 'before, p50', value: percentile(ms.before, 0.5), unit: 'ms' },
    { name: 'now, p50', value: percentile(ms.now, 0.5), unit: 'ms' },
    { name: 'now / before, p50', value: percentile(ms.now, 0.5) / percentile(ms.before, 0.5), unit: '' },
    { name: 'now / before, p95', value: percentile(ms.now, 0.95) / percentile(ms.before, 0.95), unit: '' },
    { name: 'now / before, median of pairs', value: percentile(pairs, 0.5), unit: '', bar: { atMost: 1.1 } },
    { name: 'now / before, processor time', value: cpu.now / cpu.before, unit: '' },
    { name: 'now, processor time a question', value: cpu.now / places.length, unit: 'ms' },
    { name: `before, ${AT_ONCE} at once`, ...acrossRounds(rates.before), unit: 'queries/s' },
    { name: `now, ${AT_ONCE} at once`, ...acrossRounds(rates.now), unit: 'queries/s' },
    {
      name: `now / before, queries/s, ${AT_ONCE} at once`,
      ...acrossRounds(rates.now.map((rate, round) => rate / rates.before[round]!)),
      unit: '',
      bar: { atLeast: AT_ONCE_BAR },
      beside: 'the other checkout on a copy of the same store, in turns',
    },
  ]
  report('before', figures)
} finally {
  await Promise.all(Object.values(daemons).map((daemon) => daemon.stop()))
  home.remove()
}
