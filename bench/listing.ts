/**
 * What a listing costs in a space of 20,000 documents, beside the same in one of 500 in the same daemon, in turns: a
 * tree, a folder, documents, statistics, status, over HTTP and by the command line. Then `ks fsck`, `ks docs delete` of
 * 1,000 documents, and, in a space of 100,000 passages, questions from the moment a daemon listens: when the first is
 * answered, and whether it is whole. `listing [DOCUMENTS [PASSAGES]] [--rounds N] [--stores FOLDER]`
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { Client } from '../src/client/client.js'
import { ask } from './lib/ask.js'
import { makeCorpus, makeNotes } from './lib/corpus.js'
import { type BenchDaemon, runKs, startDaemon, temporaryFolder } from './lib/daemon.js'
import { processorMs } from './lib/process-memory.js'
import { type Figure, percentile, report } from './lib/report.js'
import { untilSettled } from './lib/settled.js'
import { copyStore, storeOf } from './lib/stores.js'
import { acrossRounds, inTurns, ratioOf, type Side } from './lib/turns.js'
import { fillSpace } from './lib/upload.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' }, stores: { type: 'string' } },
})
const DOCUMENTS = Number(positionals[0] ?? 20_000)
const PASSAGES = Number(positionals[1] ?? Math.min(100_000, DOCUMENTS * 5))
const ROUNDS = Number(values.rounds)
const FEW = Math.min(500, Math.ceil(DOCUMENTS / 4))
const ROWS = Math.min(500, FEW)
const DELETED = Math.min(1000, Math.floor(DOCUMENTS / (ROUNDS + 1)))
const SEED = 20_001
const FEW_SEED = 501
/** requests of each kind a round */
const ASKED = 25
/** a cost that does not grow with the space, and what the noise of one machine makes of it */
const GROWTH_BAR = 1.5
const TREE_BAR_MS = 300
const FSCK_BAR_S = 4
const DELETE_BAR_S = 1
/** questions are put to a new daemon for so long, with a pause between them */
const WATCHED_MS = 8000
const PAUSE_MS = 100

const home = temporaryFolder('bench-listing')
const folder = values.stores ?? home.path
const path = (id: string) => ({ path: { id } })

/** What is listed, over HTTP: each answer holds as many rows in a small space as in a large one. */
const LISTS: Record<string, (client: Client, id: string) => Promise<unknown>> = {
  'fs tree': (client, id) =>
    client.request('GET /knowledge-spaces/{id}/fs/tree', {
      ...path(id),
      query: { path: '/knowledge', limit: ROWS, depth: 8 },
    }),
  'fs ls': (client, id) =>
    client.request('GET /knowledge-spaces/{id}/fs/ls', {
      ...path(id),
      query: { path: '/knowledge/documents', limit: ROWS },
    }),
  'fs ls of a source': (client, id) =>
    client.request('GET /knowledge-spaces/{id}/fs/ls', {
      ...path(id),
      query: { path: '/sources/uploads', limit: ROWS },
    }),
  'docs list': (client, id) =>
    client.request('GET /knowledge-spaces/{id}/documents', { ...path(id), query: { limit: 100 } }),
  'jobs list': (client, id) =>
    client.request('GET /knowledge-spaces/{id}/jobs', { ...path(id), query: { limit: 100 } }),
  stats: (client, id) => client.request('GET /knowledge-spaces/{id}/stats', path(id)),
  status: (client, id) => client.request('GET /knowledge-spaces/{id}/status', path(id)),
}

try {
  const figures = [...(await listings()), ...(await openings())]
  report('listing', figures)
} finally {
  home.remove()
}

async function listings(): Promise<Figure[]> {
  const notes = { passages: { length: DOCUMENTS }, name: `notes-${DOCUMENTS}`, files: () => makeNotes(DOCUMENTS, SEED) }
  const store = await storeOf(notes, { folder })
  const dataDir = copyStore(store, join(home.path, 'many'))
  const daemon = await startDaemon(dataDir)
  try {
    const few = await fillSpace(daemon.client, 'few', makeNotes(FEW, FEW_SEED))
    await untilSettled(daemon.client)
    return [
      { name: 'documents', value: DOCUMENTS, unit: '' },
      ...(await overHttp(daemon, store.spaceId, few.spaceId)),
      ...(await byCommand(dataDir)),
      ...(await checks(daemon)),
      ...(await deletions(daemon, store.spaceId)),
    ]
  } finally {
    await daemon.stop()
  }
}

/** Each list in both spaces, in turns. */
async function overHttp({ client }: BenchDaemon, many: string, few: string): Promise<Figure[]> {
  const figures: Figure[] = []
  const places = [...Array(ASKED).keys()]
  for (const [name, list] of Object.entries(LISTS)) {
    const side =
      (id: string): Side =>
      async (asked) => {
        const ms: number[] = []
        for (const _ of asked) ms.push(await timed(() => list(client, id)))
        return ms
      }
    const sides = { many: side(many), few: side(few) }
    // warms caches, and starts what is only made when somebody asks for it
    const [first = Number.NaN] = await sides.many([0])
    await sides.few([0])
    await untilSettled(client)
    const rounds: { many: number[]; few: number[] }[] = []
    for (let round = 0; round < ROUNDS; round++) rounds.push(await inTurns(sides, places))
    const of = (which: 'many' | 'few') => rounds.map((round) => round[which])
    figures.push(
      { name: `${name}, first time`, value: first, unit: 'ms' },
      { name: `${name}, p50`, ...acrossRounds(of('many').map((ms) => percentile(ms, 0.5))), unit: 'ms' },
      {
        name: `${name}, p50 beside a small space`,
        ...ratioOf(of('many'), of('few')),
        unit: 'x',
        bar: { atMost: GROWTH_BAR },
        beside: `the same rows of a space of ${FEW} documents in the same daemon, in turns`,
      },
    )
  }
  return figures
}

/** The same as somebody types it. */
async function byCommand(dataDir: string): Promise<Figure[]> {
  const tree = await commandMs(dataDir, ['fs', 'tree', '/knowledge', '--limit', String(ROWS), '--space', 'passages'])
  const ls = await commandMs(dataDir, [
    'fs',
    'ls',
    '/knowledge/documents',
    '--limit',
    String(ROWS),
    '--space',
    'passages',
  ])
  const few = await commandMs(dataDir, ['fs', 'tree', '/knowledge', '--limit', String(ROWS), '--space', 'few'])
  return [
    {
      name: `ks fs tree, ${ROWS} rows`,
      ...acrossRounds(tree),
      unit: 'ms',
      bar: { atMost: TREE_BAR_MS },
      beside: `${Math.round(percentile(few, 0.5))} ms of them in a space of ${FEW} documents`,
    },
    { name: `ks fs ls, ${ROWS} rows`, ...acrossRounds(ls), unit: 'ms', bar: { atMost: TREE_BAR_MS } },
  ]
}

async function checks(daemon: BenchDaemon): Promise<Figure[]> {
  const seconds: number[] = []
  const cpu: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = processorMs(daemon.pid)
    const [ms = Number.NaN] = await commandMs(daemon.dataDir, ['fsck', 'passages'], 1)
    seconds.push(ms / 1000)
    cpu.push((processorMs(daemon.pid) - before) / 1000)
  }
  return [
    { name: 'ks fsck', ...acrossRounds(seconds), unit: 's', bar: { atMost: FSCK_BAR_S } },
    { name: 'ks fsck, processor time of the daemon', ...acrossRounds(cpu), unit: 's' },
  ]
}

/** Documents are deleted as a script does it: by their ids, in one command. */
async function deletions({ client, dataDir, pid }: BenchDaemon, spaceId: string): Promise<Figure[]> {
  const seconds: number[] = []
  const cpu: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const ids: string[] = []
    for (let cursor: string | undefined; ids.length < DELETED; ) {
      const query = { limit: Math.min(100, DELETED - ids.length), ...(cursor === undefined ? {} : { cursor }) }
      const page = await client.request('GET /knowledge-spaces/{id}/documents', { ...path(spaceId), query })
      ids.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    const before = processorMs(pid)
    const [ms = Number.NaN] = await commandMs(dataDir, ['docs', 'delete', ...ids, '--yes', '--space', 'passages'], 1)
    seconds.push(ms / 1000)
    cpu.push((processorMs(pid) - before) / 1000)
    await untilSettled(client)
  }
  return [
    {
      name: `ks docs delete of ${DELETED} documents`,
      ...acrossRounds(seconds),
      unit: 's',
      bar: { atMost: DELETE_BAR_S },
    },
    { name: 'ks docs delete, processor time of the daemon', ...acrossRounds(cpu), unit: 's' },
  ]
}

/** Questions from the moment a daemon listens, as somebody asks who has just started it. */
async function openings(): Promise<Figure[]> {
  const corpus = makeCorpus(PASSAGES)
  const store = await storeOf(corpus, { folder })
  const first: number[] = []
  const second: number[] = []
  const last: number[] = []
  let degraded = 0
  let asked = 0
  let cpu = 0
  for (let round = 0; round < ROUNDS; round++) {
    const dataDir = copyStore(store, join(home.path, `opened-${round}`))
    const daemon = await startDaemon(dataDir)
    try {
      const started = performance.now()
      const times: number[] = []
      let lastDegraded = 0
      for (let place = 0; performance.now() - started < WATCHED_MS; place++) {
        const { ms, metadata } = await ask(daemon.client, store.spaceId, corpus.queries[place]!)
        times.push(ms)
        asked++
        if (metadata['degraded'] === true) {
          degraded++
          lastDegraded = performance.now() - started
        }
        await sleep(PAUSE_MS)
      }
      cpu += processorMs(daemon.pid) / 1000 / ROUNDS
      first.push(times[0] ?? Number.NaN)
      second.push(times[1] ?? Number.NaN)
      last.push(lastDegraded / 1000)
    } finally {
      await daemon.stop()
    }
  }
  return [
    { name: 'passages', value: PASSAGES, unit: '' },
    { name: 'first answer after the start', ...acrossRounds(first), unit: 'ms' },
    { name: 'second answer after the start', ...acrossRounds(second), unit: 'ms' },
    {
      name: 'last degraded answer after the start',
      ...acrossRounds(last),
      unit: 's',
      bar: { atMost: 0 },
      beside: `${degraded} of ${asked} answers degraded, asked every ${PAUSE_MS} ms`,
    },
    { name: 'processor time of the daemon and its processes until then', value: cpu, unit: 's' },
  ]
}

/** Milliseconds of a command, so many times; the first, which warms caches, is left out where there are several. */
async function commandMs(dataDir: string, args: string[], times = ROUNDS + 1): Promise<number[]> {
  const ms: number[] = []
  for (let n = 0; n < times; n++) {
    const result = await runKs(dataDir, args)
    if (result.code !== 0)
      throw new Error(`ks ${args.slice(0, 3).join(' ')} exited with ${result.code}: ${result.stderr}`)
    ms.push(result.ms)
  }
  return times > 1 ? ms.slice(1) : ms
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}
