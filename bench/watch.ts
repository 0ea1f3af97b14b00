/**
 * From a change in a watched folder to the moment when a query finds it: 1,000 Markdown notes, one change at a time, the
 * watch kept by the daemon. Then a burst of 300 files and a renamed folder of 1,000 files, until the space holds them.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startDaemon, temporaryFolder } from './lib/daemon.js'
import { type Figure, percentile, report } from './lib/report.js'
import { numbers, prose } from './lib/words.js'

const FILES = Number(process.argv[2] ?? 1000)
const CHANGES = Number(process.argv[3] ?? 20)
const BURST = 300
const NOTE_CHARACTERS = 1024
const SEED = 7
const POLL_MS = 10
/** pause between changes, so that each one is alone */
const APART_MS = 700
/** "within a second" */
const BAR_MS = 1000

const home = temporaryFolder('bench-watch')
const folder = join(home.path, 'notes')
const random = numbers(SEED)
const nameOf = (place: number) => join(folder, String(place % 10), `note-${place}.md`)
for (let place = 0; place < 10; place++) mkdirSync(join(folder, String(place)), { recursive: true })
for (let place = 0; place < FILES; place++) writeFileSync(nameOf(place), note(`start${place}`))

const daemon = await startDaemon(join(home.path, 'data'))
const { client } = daemon
try {
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: 'Notes', slug: 'notes' } })
  const began = performance.now()
  await client.request('POST /daemon/watches', { body: { knowledgeSpaceId: id, folder } })
  await untilCount(id, FILES)
  const first = performance.now() - began
  await quiet()
  const figures: Figure[] = [{ name: `first look, ${FILES} files`, value: first / 1000, unit: 's' }]
  for (const [name, change] of changes()) {
    const times: number[] = []
    for (let round = 0; round < CHANGES; round++) {
      times.push(await change(id, round))
      await sleep(APART_MS)
    }
    figures.push({ name: `${name} p50`, value: percentile(times, 0.5), unit: 'ms' })
    figures.push({ name: `${name} p95`, value: percentile(times, 0.95), unit: 'ms', bar: { atMost: BAR_MS } })
  }
  const left = (await documents(id)).size
  const burst = performance.now()
  mkdirSync(join(folder, 'burst'))
  for (let place = 0; place < BURST; place++)
    writeFileSync(join(folder, 'burst', `b-${place}.md`), note(`burst${place}`))
  await untilCount(id, left + BURST)
  figures.push({ name: `burst of ${BURST} files`, value: (performance.now() - burst) / 1000, unit: 's' })
  const renamed = performance.now()
  renameSync(folder, `${folder}.old`)
  mkdirSync(folder)
  renameSync(`${folder}.old`, join(folder, 'all'))
  await untilNames(id, left + BURST, (name) => name.startsWith('notes/all/'))
  figures.push({
    name: `renamed folder of ${left + BURST} files`,
    value: (performance.now() - renamed) / 1000,
    unit: 's',
  })
  report('watch', figures)
} finally {
  await daemon.stop()
  home.remove()
}

type Change = (id: string, round: number) => Promise<number>

function changes(): [string, Change][] {
  return [
    [
      'create',
      (id, round) =>
        timed(
          () => writeFileSync(join(folder, `new-${round}.md`), note(`created${round}`)),
          () => finds(id, `created${round}`),
        ),
    ],
    [
      'edit',
      (id, round) =>
        timed(
          () => writeFileSync(nameOf(round), note(`edited${round}`)),
          () => finds(id, `edited${round}`),
        ),
    ],
    [
      'save by rename',
      (id, round) =>
        timed(
          () => {
            writeFileSync(join(folder, '.saving'), note(`atomic${round}`))
            renameSync(join(folder, '.saving'), nameOf(round))
          },
          () => finds(id, `atomic${round}`),
        ),
    ],
    [
      'rename',
      (id, round) =>
        timed(
          () => renameSync(nameOf(round), join(folder, `moved-${round}.md`)),
          async () => (await names(id, `atomic${round}`)) === `notes/moved-${round}.md`,
        ),
    ],
    [
      'delete',
      (id, round) =>
        timed(
          () => rmSync(join(folder, `new-${round}.md`)),
          async () => !(await finds(id, `created${round}`)),
        ),
    ],
  ]
}

function note(word: string): string {
  return `# ${word}\n\n${prose(random, NOTE_CHARACTERS)} ${word}\n`
}

async function timed(change: () => void, isDone: () => Promise<boolean>): Promise<number> {
  const started = performance.now()
  change()
  while (!(await isDone())) await sleep(POLL_MS)
  return performance.now() - started
}

async function finds(id: string, word: string): Promise<boolean> {
  return (await names(id, word)) !== undefined
}

/** The document that a query for a word finds first, if it holds the word. */
async function names(id: string, word: string): Promise<string | undefined> {
  const stream = await client.stream('POST /queries', { body: { knowledgeSpaceId: id, query: word, mode: 'fast' } })
  let found: string | undefined
  for await (const { event, data } of stream.events) {
    if (event !== 'answer.done') continue
    const { metadata } = JSON.parse(data)
    const [item] = metadata.evidenceBundle.items
    if (item?.text.includes(word)) found = item.metadata.filename
  }
  return found
}

async function documents(id: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  let cursor: string | undefined
  do {
    const query = { limit: '100', ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.request('GET /knowledge-spaces/{id}/documents', { path: { id }, query })
    for (const { filename, parserStatus } of page.items) found.set(filename, parserStatus)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return found
}

async function untilNames(id: string, count: number, fits: (name: string) => boolean): Promise<void> {
  for (;;) {
    const found = [...(await documents(id))]
    if (found.length === count && found.every(([name, status]) => status === 'parsed' && fits(name))) return
    await sleep(100)
  }
}

function untilCount(id: string, count: number): Promise<void> {
  return untilNames(id, count, () => true)
}

/** Waits until the daemon has nothing to do: training goes on behind a large ingest. */
async function quiet(): Promise<void> {
  let calm = 0
  while (calm < 10) {
    const { activity } = await client.request('GET /daemon/status', {})
    calm = (activity.backgroundTasks ?? 0) + activity.activeJobs + activity.waitingJobs === 0 ? calm + 1 : 0
    await sleep(500)
  }
}
