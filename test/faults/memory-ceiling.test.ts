import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { afterEach, expect, test } from 'vitest'
import { ask } from '../../bench/lib/ask.js'
import { isAlive, KSD, privateEnv, temporaryFolder } from '../../bench/lib/daemon.js'
import { FORMATS } from '../../bench/lib/large-files.js'
import { Client } from '../../src/client/client.js'
import { createToken } from '../../src/local/keys.js'
import { listDocuments, makeNote } from '../crash/ledger.js'
import { until } from '../helpers/until.js'
import { type MemoryGroup, memoryGroup, memoryGroupTrouble } from './rig/memory-group.js'
import { rounds } from './rig/rounds.js'

if (memoryGroupTrouble !== undefined) process.stdout.write(`SKIPPED F56: ${memoryGroupTrouble}\n`)

const MB = 1024 * 1024
const CEILING = 512 * MB
/** documents of each format in a round: a user may send some millions of characters */
const SIZES = { markdown: 3 * MB, csv: 3 * MB, html: MB, json: MB, text: 2 * MB, docx: MB }
const NOTES = 100
const ROUNDS = rounds(1)

const ends: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function startInside(group: MemoryGroup, dataDir: string): Promise<{ pid: number; client: Client }> {
  const args = [KSD, '--data-dir', dataDir, '--listen', '127.0.0.1:0', '--ready-json']
  const child = execa(...group.command(process.execPath, args), {
    env: privateEnv(dataDir),
    extendEnv: false,
    buffer: false,
    reject: false,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exit = once(child, 'exit')
  ends.push(async () => {
    child.kill('SIGKILL')
    await exit
    // Child processes notice the end of their parent.
    await until(() => {
      try {
        group.remove()
        return true
      } catch {
        return false
      }
    }, 30_000)
  })
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([first]) => String(first)),
    exit.then(([code]) => Promise.reject(new Error(`the daemon ended with ${code}`))),
  ])
  const { pid, url }: { pid: number; url: string } = JSON.parse(line)
  const { token } = await createToken(dataDir, { tenant: 'a', subject: 'ada', scopes: ['knowledge-spaces:*'] })
  return { pid, client: new Client({ url, token }) }
}

test.skipIf(memoryGroupTrouble !== undefined)(
  'F56: documents of many formats are published in 512 MB during queries, and no process is killed for memory',
  { timeout: 260_000 + ROUNDS * 40_000 },
  async () => {
    const home = temporaryFolder('memory-ceiling')
    ends.push(() => home.remove())
    const group = memoryGroup(CEILING)
    const { pid, client } = await startInside(group, join(home.path, 'data'))
    const { id } = await client.request('POST /knowledge-spaces', { body: { name: 'Full', slug: 'full' } })
    let sent = 0
    let bytes = 0
    const upload = async (files: { filename: string; mimeType: string; bytes: Buffer }[]) => {
      await client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
        path: { id },
        field: 'files',
        files: files.map(({ filename, mimeType, bytes: content }) => ({
          filename,
          mimeType,
          content: { bytes: content },
        })),
      })
      sent += files.length
      bytes += files.reduce((sum, file) => sum + file.bytes.length, 0)
    }
    let ended = false
    const filling = (async () => {
      for (let round = 0; round < ROUNDS; round++) {
        for (const [format, size] of Object.entries(SIZES)) {
          const file = FORMATS[format]!(size)
          await upload([{ ...file, filename: `${round}-${file.filename}` }])
        }
        const notes = Array.from({ length: NOTES }, (_, place) => makeNote(`r${round}n${place}`, round * NOTES + place))
        await upload(notes.map((note) => ({ ...note, mimeType: 'text/markdown' })))
      }
      await until(
        async () => {
          const { activity } = await client.request('GET /daemon/status', {})
          return activity.activeJobs === 0 && activity.waitingJobs === 0
        },
        240_000 + ROUNDS * 40_000,
      )
    })().finally(() => {
      ended = true
    })
    let questions = 0
    while (!ended) {
      await ask(client, id, 'What is described here?')
      questions++
    }
    await filling
    const documents = await listDocuments(client, id)
    const unpublished = documents
      .filter(({ parserStatus }) => parserStatus !== 'parsed')
      .map(({ filename }) => filename)
    expect([documents.length, unpublished]).toEqual([sent, []])
    expect([group.kills(), isAlive(pid)]).toEqual([0, true])
    expect(questions).toBeGreaterThan(0)
    const figure = {
      megabytes: Math.round(bytes / MB),
      documents: sent,
      questions,
      peakMb: Math.round(group.peakBytes() / MB),
    }
    process.stdout.write(`FIGURE memory-ceiling-512mb ${JSON.stringify({ ...figure, kills: 0, unpublished: 0 })}\n`)
  },
)
