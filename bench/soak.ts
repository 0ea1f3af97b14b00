/**
 * Memory of a daemon under a load that does not change: `npm run bench:soak -- 60` asks, lists, searches, uploads and
 * deletes for 60 minutes in a space of 1,000 notes, and prints what each process holds, minute by minute. The bar is on
 * the growth from the tenth minute to the end. `-- 10 6`: ten minutes of six rounds a second.
 * `-- 10 6 MALLOC_ARENA_MAX=2`: so does a daemon with that environment.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from './lib/ask.js'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { mallocResident } from './lib/process-memory.js'
import { percentile, report } from './lib/report.js'
import { fillSpace } from './lib/upload.js'
import { numbers, prose, zipfWord } from './lib/words.js'

const [, , minutesAsked = '60', perSecond = '1', ...settings] = process.argv
const MINUTES = Number(minutesAsked)
const NOTES = 1000
const NOTE_CHARACTERS = 2048
/** notes that are uploaded and live until as many newer ones were */
const CHANGING = 100
/** a round is one upload, one deletion, three queries and four reads */
const ROUND_MS = 1000 / Number(perSecond)
/** rounds between two looks at the memory */
const SAMPLE_ROUNDS = 5
/** the minute from which growth is counted: caches are filled, code is compiled */
const SETTLED = Math.min(10, Math.floor(MINUTES / 2))
const BAR_MB = 20
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
const random = numbers(SEED)
const note = (name: string) => `# ${name}\n\n${prose(random, NOTE_CHARACTERS)}`
const daemon = await startDaemon(home.path, Object.fromEntries(settings.map((one) => one.split('=', 2))))
const { client } = daemon
try {
  const files = Array.from({ length: NOTES }, (_, place) => ({
    filename: `note-${place}.md`,
    text: note(`Note ${place}`),
  }))
  const { spaceId: id } = await fillSpace(client, 'soak', files)
  const living: string[] = []
  const samples: Sample[] = []
  let shown = 0
  process.stdout.write(`${line(['minute', ...COLUMNS])}\n`)
  const begun = performance.now()
  let rounds = 0
  const minutes = () => (performance.now() - begun) / 60_000
  for (; minutes() < MINUTES; rounds++) {
    const due = begun + rounds * ROUND_MS
    if (due > performance.now()) await sleep(due - performance.now())
    await round(id, living, rounds)
    if (rounds % SAMPLE_ROUNDS === 0) samples.push(await sample(minutes()))
    for (; shown < Math.floor(minutes()); shown++) show(shown, samples)
  }
  const at = (from: number, to: number, of: (one: Sample) => number) =>
    percentile(samples.filter(({ minute }) => minute >= from && minute < to).map(of), 0.5)
  const grown = (of: (one: Sample) => number) => at(MINUTES - 3, MINUTES, of) - at(SETTLED - 1, SETTLED + 2, of)
  report('soak', [
    { name: `daemon, minute ${SETTLED}`, value: at(SETTLED - 1, SETTLED + 2, ({ daemon }) => daemon), unit: 'MB' },
    {
      name: `daemon, growth to minute ${MINUTES}`,
      value: grown((one) => one.daemon),
      unit: 'MB',
      bar: { atMost: BAR_MB },
    },
    { name: 'heap of the daemon, growth', value: grown((one) => one.heap), unit: 'MB' },
    { name: 'outside its heap, growth', value: grown((one) => one.external), unit: 'MB' },
    { name: 'allocator of the daemon, growth', value: grown((one) => one.main + one.arenas), unit: 'MB' },
    { name: 'index process, growth', value: grown((one) => one.index), unit: 'MB' },
    { name: 'rounds', value: rounds, unit: '', note: `${Math.round((rounds / MINUTES / 60) * 100)} % of one a second` },
  ])
} finally {
  await daemon.stop()
  home.remove()
}

/** What a team does to a space: the same kinds of work in every round, other words each time. */
async function round(id: string, living: string[], place: number): Promise<void> {
  const path = { id }
  const name = `changing-${place}.md`
  const { items } = await client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
    path,
    field: 'files',
    files: [{ filename: name, mimeType: 'text/markdown', content: { bytes: Buffer.from(note(name)) } }],
  })
  living.push(...items.map(({ asset }) => asset.id))
  if (living.length > CHANGING) {
    const documentIds = living.splice(0, living.length - CHANGING)
    await client.request('DELETE /knowledge-spaces/{id}/documents/bulk', { path, body: { documentIds } })
  }
  for (let query = 0; query < 3; query++)
    await ask(client, id, Array.from({ length: 4 }, () => zipfWord(random)).join(' '))
  await client.request('GET /knowledge-spaces/{id}/documents', { path, query: { limit: 100 } })
  await client.request('GET /knowledge-spaces/{id}/fs/ls', { path, query: { path: '/sources/uploads', limit: 100 } })
  await client.request('GET /knowledge-spaces/{id}/fs/grep', {
    path,
    query: { path: '/sources/uploads', q: zipfWord(random), limit: 10 },
  })
  await client.request('GET /knowledge-spaces/{id}/stats', { path })
}

async function sample(minute: number): Promise<Sample> {
  const { memory, processes = [] } = await client.request('GET /daemon/status', {})
  const sum = (role: string) =>
    megabytes(processes.filter((one) => one.role === role).reduce((total, { rss }) => total + rss, 0))
  const malloc = mallocResident(daemon.pid)
  return {
    minute,
    daemon: sum('daemon'),
    heap: megabytes(memory?.heapUsed),
    external: megabytes(memory?.external),
    buffers: megabytes(memory?.arrayBuffers),
    main: megabytes(malloc?.main),
    arenas: megabytes(malloc?.arenas),
    index: sum('index'),
    children: sum('parser'),
  }
}

function megabytes(bytes = 0): number {
  return bytes / 1e6
}

/** A line of medians as soon as its minute is over: a run that is stopped has said what it saw. */
function show(minute: number, samples: readonly Sample[]): void {
  const these = samples.filter((one) => Math.floor(one.minute) === minute)
  if (these.length === 0) return
  const median = (of: (typeof COLUMNS)[number]) =>
    String(
      Math.round(
        percentile(
          these.map((one) => one[of]),
          0.5,
        ),
      ),
    )
  process.stdout.write(`${line([String(minute), ...COLUMNS.map(median)])}\n`)
}

function line(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(8)).join('  ')
}
