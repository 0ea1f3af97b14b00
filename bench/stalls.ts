/**
 * How long one large upload keeps everybody else waiting: the longest answer of `GET /health` from the first byte of a
 * file near the limit of its format until it is published, and for as long with the same daemon idle.
 * `stalls FORMAT,FORMAT ROUNDS SHARE`: `SHARE` of the sizes below.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchDaemon, startDaemon, temporaryFolder } from './lib/daemon.js'
import { startProbe } from './lib/health-probe.js'
import { FORMATS, type LargeFile } from './lib/large-files.js'
import { type Figure, percentile, printFigures, report } from './lib/report.js'

const MEGABYTE = 1e6
/** Bytes of text of a file that the reading process just takes: what is larger fails for its memory. */
const SIZES: Record<string, number> = {
  markdown: 30,
  text: 30,
  csv: 20,
  html: 12,
  json: 15,
  docx: 10,
  xlsx: 8.8, // 978,000 cells of 1,000,000
  pptx: 3.9, // 4,875 slides of 5,000
  pdf: 8,
}
const [, , names = Object.keys(FORMATS).join(','), rounds = '5', share = '1'] = process.argv
const ROUNDS = Number(rounds)
const SHARE = Number(share)
/** what a person takes for no wait at all */
const STALL_BAR_MS = 100
const POLL_MS = 100
const LONGEST_WAIT_MS = 300_000

const home = temporaryFolder('bench-stalls')
const daemon = await startDaemon(join(home.path, 'data'))
const probe = await startProbe(daemon.url, join(home.path, 'probe'))
try {
  const figures: Figure[] = []
  for (const name of names.split(',')) {
    const make = FORMATS[name]
    if (make === undefined) throw new Error(`there is no format ${JSON.stringify(name)}`)
    try {
      const measured = await measure(name, make((SIZES[name] ?? 1) * MEGABYTE * SHARE))
      printFigures(measured)
      figures.push(...measured)
    } catch (error) {
      // the others are worth knowing all the same
      process.stdout.write(`${name}: ${error instanceof Error ? error.message : error}\n`)
      process.exitCode = 1
    }
  }
  report('stalls', figures)
} finally {
  await probe.stop()
  await daemon.stop()
  home.remove()
}

async function measure(name: string, file: LargeFile): Promise<Figure[]> {
  const busy: number[] = []
  const idle: number[] = []
  const seconds: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const slug = `${name}-${round}`
    const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: slug, slug } })
    await probe.take()
    const started = performance.now()
    await publish(daemon, id, file)
    const took = performance.now() - started
    busy.push((await probe.take()).longestMs)
    seconds.push(took / 1000)
    await settled(daemon)
    await probe.take()
    await sleep(took)
    idle.push((await probe.take()).longestMs)
  }
  const shown = `${name}, ${(file.bytes.length / MEGABYTE).toFixed(1)} MB`
  return [
    { name: `${shown}: longest stall`, value: percentile(busy, 0.5), unit: 'ms', bar: { atMost: STALL_BAR_MS } },
    { name: `${shown}: idle daemon, as long`, value: percentile(idle, 0.5), unit: 'ms' },
    { name: `${shown}: until published`, value: percentile(seconds, 0.5), unit: 's' },
  ]
}

async function publish({ client }: BenchDaemon, id: string, file: LargeFile): Promise<void> {
  const { filename, mimeType, bytes } = file
  const accepted = await client.upload('POST /knowledge-spaces/{id}/documents', {
    path: { id },
    field: 'file',
    files: [{ filename, mimeType, content: { bytes } }],
  })
  const { id: documentId } = 'asset' in accepted ? accepted.asset : accepted
  for (const until = performance.now() + LONGEST_WAIT_MS; performance.now() < until; await sleep(POLL_MS)) {
    const document = await client.request('GET /knowledge-spaces/{id}/documents/{documentId}', {
      path: { id, documentId },
    })
    if (document.parserStatus === 'parsed') return
    if (document.parserStatus === 'failed') throw new Error(`${filename}: ${JSON.stringify(document)}`)
  }
  throw new Error(`${filename} was not published in time`)
}

/** Waits until the daemon does nothing, so that its idle stalls are those of the machine. */
async function settled({ client }: BenchDaemon): Promise<void> {
  for (const until = performance.now() + LONGEST_WAIT_MS; performance.now() < until; await sleep(POLL_MS)) {
    const { activity } = await client.request('GET /daemon/status', {})
    if (activity.activeJobs + activity.waitingJobs + (activity.backgroundTasks ?? 0) === 0) return
  }
  throw new Error('the daemon did not come to rest in time')
}
