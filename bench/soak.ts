/**
 * Memory of a daemon under a load that does not change: `npm run bench:soak -- 60` asks, lists, searches, uploads and
 * deletes for 60 minutes in a space of 1,000 notes, and prints what each process holds, minute by minute. The bar is on
 * the growth from the tenth minute to the end. `-- 10 6`: ten minutes of six rounds a second.
 * `-- 10 6 MALLOC_ARENA_MAX=2`: so does a daemon with that environment.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './lib/ask.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { readMallocResident } from './lib/process-memory.js'
import { percentile, report } from './lib/report.js'
import { fillSpace } from './lib/upload.js'
import { createRandom, drawWord, makeProse } from './lib/words.js'

const [, , minuteCount = '60', roundsPerSecond = '1', ...settings] = process.argv
const MINUTES = Number(minuteCount)
const NOTES = 1000
const NOTE_CHARACTERS = 2048
/** notes that are uploaded and live until as many newer ones were */
const MAX_CHANGING_NOTES = 100
/** a round is one upload, one deletion, three queries and four reads */
const ROUND_MS = 1000 / Number(roundsPerSecond)
/** rounds between two looks at the memory */
const SAMPLE_ROUNDS = 5
/** the minute from which growth is counted: caches are filled, code is compiled */
const FIRST_COUNTED_MINUTE = Math.min(10, Math.floor(MINUTES / 2))
const MAX_GROWTH_MB = 20
const SEED = 11

/** Megabytes. */
interface Sample {
  minute: number
  daemon: number
  heap: number
  external: number
  buffers: number
  /** main heap and arenas of the C library's allocator */
  main: number
  arenas: number
  index: number
  children: number
}
const COLUMNS = ['daemon', 'heap', 'external', 'buffers', 'main', 'arenas', 'index', 'children'] as const

const home = temporaryFolder('bench-soak')
const random = createRandom(SEED)
const makeNote = (name: string) => `# ${name}\n\n${makeProse(random, NOTE_CHARACTERS)}`
const daemon = await startDaemon(home.path, Object.fromEntries(settings.map((one) => one.split('=', 2))))
const { client } = daemon
try {
  const files = Array.from({ length: NOTES }, (_, index) => ({
    filename: `note-${index}.md`,
    text: makeNote(`Note ${index}`),
  }))
  const { spaceId: id } = await fillSpace(client, 'soak', files)
  const liveIds: string[] = []
  const samples: Sample[] = []
  let printedMinutes = 0
  process.stdout.write(`${formatLine(['minute', ...COLUMNS])}\n`)
  const startedAt = performance.now()
  let rounds = 0
  const getMinutes = () => (performance.now() - startedAt) / 60_000
  for (; getMinutes() < MINUTES; rounds++) {
    const due = startedAt + rounds * ROUND_MS
    if (due > performance.now()) await sleep(due - performance.now())
    await runRound(id, liveIds, rounds)
    if (rounds % SAMPLE_ROUNDS === 0) samples.push(await takeSample(getMinutes()))
    for (; printedMinutes < Math.floor(getMinutes()); printedMinutes++) printMinute(printedMinutes, samples)
  }
  const computeMedian = (from: number, to: number, of: (one: Sample) => number) =>
    percentile(samples.filter(({ minute }) => minute >= from && minute < to).map(of), 0.5)
  const computeGrowth = (of: (one: Sample) => number) =>
    computeMedian(MINUTES - 3, MINUTES, of) - computeMedian(FIRST_COUNTED_MINUTE - 1, FIRST_COUNTED_MINUTE + 2, of)
  report('soak', [
    {
      name: `daemon, minute ${FIRST_COUNTED_MINUTE}`,
      value: computeMedian(FIRST_COUNTED_MINUTE - 1, FIRST_COUNTED_MINUTE + 2, ({ daemon }) => daemon),
      unit: 'MB',
    },
    {
      name: `daemon, growth to minute ${MINUTES}`,
      value: computeGrowth((one) => one.daemon),
      unit: 'MB',
      bar: { atMost: MAX_GROWTH_MB },
    },
    { name: 'heap of the daemon, growth', value: computeGrowth((one) => one.heap), unit: 'MB' },
    { name: 'outside its heap, growth', value: computeGrowth((one) => one.external), unit: 'MB' },
    { name: 'allocator of the daemon, growth', value: computeGrowth((one) => one.main + one.arenas), unit: 'MB' },
    { name: 'index process, growth', value: computeGrowth((one) => one.index), unit: 'MB' },
    { name: 'rounds', value: rounds, unit: '', note: `${Math.round((rounds / MINUTES / 60) * 100)} % of one a second` },
  ])
} finally {
  await daemon.stop()
  home.remove()
}

/** Does the same kinds of work in every round, with different words. */
async function runRound(id: string, liveIds: string[], index: number): Promise<void> {
  const path = { id }
  const name = `changing-${index}.md`
  const { items } = await client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
    path,
    field: 'files',
    files: [{ filename: name, mimeType: 'text/markdown', content: { bytes: Buffer.from(makeNote(name)) } }],
  })
  liveIds.push(...items.map(({ asset }) => asset.id))
  if (liveIds.length > MAX_CHANGING_NOTES) {
    const documentIds = liveIds.splice(0, liveIds.length - MAX_CHANGING_NOTES)
    await client.request('DELETE /knowledge-spaces/{id}/documents/bulk', { path, body: { documentIds } })
  }
  for (let query = 0; query < 3; query++)
    await ask(client, id, Array.from({ length: 4 }, () => drawWord(random)).join(' '))
  await client.request('GET /knowledge-spaces/{id}/documents', { path, query: { limit: 100 } })
  await client.request('GET /knowledge-spaces/{id}/fs/ls', { path, query: { path: '/sources/uploads', limit: 100 } })
  await client.request('GET /knowledge-spaces/{id}/fs/grep', {
    path,
    query: { path: '/sources/uploads', q: drawWord(random), limit: 10 },
  })
  await client.request('GET /knowledge-spaces/{id}/stats', { path })
}

async function takeSample(minute: number): Promise<Sample> {
  const { memory, processes = [] } = await client.request('GET /daemon/status', {})
  const sum = (role: string) =>
    toMegabytes(processes.filter((one) => one.role === role).reduce((total, { rss }) => total + rss, 0))
  const malloc = readMallocResident(daemon.pid)
  return {
    minute,
    daemon: sum('daemon'),
    heap: toMegabytes(memory?.heapUsed),
    external: toMegabytes(memory?.external),
    buffers: toMegabytes(memory?.arrayBuffers),
    main: toMegabytes(malloc?.main),
    arenas: toMegabytes(malloc?.arenas),
    index: sum('index'),
    children: sum('parser'),
  }
}

function toMegabytes(bytes = 0): number {
  return bytes / 1e6
}

/** Prints the medians of a minute at its end, so that a stopped run has printed its figures. */
function printMinute(minute: number, samples: readonly Sample[]): void {
  const minuteSamples = samples.filter((one) => Math.floor(one.minute) === minute)
  if (minuteSamples.length === 0) return
  const median = (of: (typeof COLUMNS)[number]) =>
    String(
      Math.round(
        percentile(
          minuteSamples.map((one) => one[of]),
          0.5,
        ),
      ),
    )
  process.stdout.write(`${formatLine([String(minute), ...COLUMNS.map(median)])}\n`)
}

function formatLine(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(8)).join('  ')
}
