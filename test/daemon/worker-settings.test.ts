import { readFileSync } from 'node:fs'
import { afterEach, expect, it } from 'vitest'
import { bodyOf } from '../helpers/daemon.js'
import { until } from '../helpers/until.js'
import { startWholeDaemon, stopAllDaemons, type WholeDaemon } from '../helpers/whole-daemon.js'

const READY = 60_000
const WORDS = 'harbour berth crane ferry lighthouse anchor cargo pilot tide quay'.split(' ')

afterEach(stopAllDaemons)

/** Uploads documents at once, and waits until all are compiled. */
async function withDocuments({ call }: WholeDaemon, count: number): Promise<void> {
  const space = await call('POST', '/knowledge-spaces', { json: { name: 'N', slug: 'notes' } })
  const { id } = await bodyOf<{ id: string }>(space)
  const sentence = (n: number) => `The ${WORDS[n % 10]} and the ${WORDS[(n * 3 + 1) % 10]} of port ${n}.`
  const form = Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`files${n}`, new File([`# Note ${n}\n\n${sentence(n)}\n`], `${n}.md`)]),
  )
  expect((await call('POST', `/knowledge-spaces/${id}/documents/bulk`, { form })).status).toBe(202)
  await until(async () => {
    const page = await call('GET', `/knowledge-spaces/${id}/documents?limit=${count}`)
    const { items } = await bodyOf<{ items: { parserStatus: string }[] }>(page)
    return items.filter(({ parserStatus }) => parserStatus === 'parsed').length === count
  }, READY)
}

/** Child processes that read documents. */
function readers(): string[] {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return pids.filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('readers/child.js'))
}

it.each([1, 3])(
  'readingProcesses %d starts this many processes for documents that arrive together',
  async (readingProcesses) => {
    await withDocuments(await startWholeDaemon({ readingProcesses }), 3)
    expect(readers()).toHaveLength(readingProcesses)
  },
  READY,
)

it(
  'embeddingThreads 12 starts at least twelve threads for the embedding model',
  async () => {
    const started = await startWholeDaemon({ embeddingThreads: 12 })
    let workers = 0
    const count = () => workers++
    process.on('worker', count)
    await withDocuments(started, 40)
    await until(() => workers >= 12, READY)
    process.off('worker', count)
  },
  READY,
)
