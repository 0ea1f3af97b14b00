import { linkSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type BenchDaemon, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { removeFolder } from '../../bench/lib/removed-folder.js'
import { resolveDataLayout } from '../../src/local/layout.js'
import { Ledger, makeNote, type Note, settled, verify } from '../crash/ledger.js'
import { seededRandom } from '../crash/random.js'
import { integrityOf, issuesOf } from './rig/checks.js'
import { type Journal, journalLength, readJournal, rebuild } from './rig/journal.js'
import { faultSeed, rounds } from './rig/rounds.js'
import { faultShim, shimTrouble } from './rig/shim.js'

/** Directories that are rebuilt. */
const IMAGES = rounds(6)
const FILES = 40

const home = temporaryFolder('power-cut')
const dataDir = join(home.path, 'data')
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

/**
 * What was acknowledged, and the length of the journal when the response arrived; for open requests, the time of the
 * request.
 */
interface Promised {
  documents: { id: string; note: Note; at: number }[]
  deletions: { id: string; asked: number; at: number }[]
  files: { path: string; content: string; asked: number; at: number }[]
  space: { id: string; at: number }
}

test.skipIf(shimTrouble !== undefined)(
  `F13, F14, F15, F16, F17: ${IMAGES} data directories after a power cut open and contain everything acknowledged`,
  { timeout: 120_000 + IMAGES * 60_000 },
  async () => {
    const seed = faultSeed()
    const random = seededRandom(seed)
    process.stdout.write(`fault seed ${seed} (KS_FAULT_SEED=${seed} repeats it)\n`)
    const { journal, promised } = await record(random)
    const answers = [...promised.documents, ...promised.deletions, ...promised.files].map(({ at }) => at)
    const checks: Checked = { documents: 0, deletions: 0, files: 0 }
    for (let image = 0; image < IMAGES; image++) {
      // Half of the cuts happen right after a response, when the synced data matters most.
      const at =
        image % 2 === 0 ? answers[Math.floor(random() * answers.length)]! : Math.floor(random() * journal.length)
      const kept = [0, 0.5, 1, random()][image % 4]!
      const target = join(home.path, `image-${image}`)
      rebuild(journal, { at, random, kept }, dataDir, target)
      // The directory after the cut is that before it, and so is its lock file.
      rmSync(resolveDataLayout(target).lock, { force: true })
      linkSync(resolveDataLayout(dataDir).lock, resolveDataLayout(target).lock)
      await check(
        target,
        at,
        promised,
        checks,
        `image ${image}, seed ${seed}, cut at ${at} of ${journal.length}, ${kept} kept`,
      )
    }
    process.stdout.write(
      `FIGURE drop-unsynced-replay ${JSON.stringify({ seed, images: IMAGES, journalMb: Math.round(journal.length / 2 ** 20), ...checks, failedToOpen: 0, lost: 0 })}\n`,
    )
  },
)

async function record(random: () => number): Promise<{ journal: Journal; promised: Promised }> {
  mkdirSync(dataDir, { mode: 0o700 })
  const shim = faultShim(dataDir, { journal: true })
  daemon = await startDaemon(dataDir, shim.env)
  const { client } = daemon
  const now = () => journalLength(shim.journal)
  const made = await client.request('POST /knowledge-spaces', { body: { name: 'Cut', slug: 'cut' } })
  const promised: Promised = { documents: [], deletions: [], files: [], space: { id: made.id, at: now() } }
  const path = { id: made.id }
  const notes = Array.from({ length: FILES }, (_, place) => makeNote(`n${place}`, place))
  const live: string[] = []
  for (let from = 0; from < notes.length; from += 4) {
    const sent = notes.slice(from, from + 4)
    const files = sent.map(({ filename, bytes }) => ({ filename, mimeType: 'text/markdown', content: { bytes } }))
    const { items } = await client.upload('POST /knowledge-spaces/{id}/documents/bulk', { path, field: 'files', files })
    const at = now()
    for (const [place, { asset }] of items.entries()) {
      promised.documents.push({ id: asset.id, note: sent[place]!, at })
      live.push(asset.id)
    }
    const file = {
      path: `/workspaces/notes/${from % 12}.md`,
      content: `${from} `.repeat(1 + Math.floor(random() * 9_000)),
    }
    const asked = now()
    await client.request('PUT /knowledge-spaces/{id}/fs/write', { path, body: file })
    promised.files.push({ ...file, asked, at: now() })
    if (from % 8 === 4) {
      const [id] = live.splice(Math.floor(random() * live.length), 1)
      const asked = now()
      await client.request('DELETE /knowledge-spaces/{id}/documents/bulk', { path, body: { documentIds: [id!] } })
      promised.deletions.push({ id: id!, asked, at: now() })
    }
    // Some of the cuts happen while only compilation runs.
    if (from % 16 === 12) await settled(client, new Ledger(made.id))
  }
  await settled(client, new Ledger(made.id))
  await daemon.kill()
  daemon = undefined
  const journal = readJournal(shim.journal)
  shim.remove()
  return { journal, promised }
}

interface Checked {
  documents: number
  deletions: number
  files: number
}

/** Starts a daemon on the rebuilt directory, and checks everything that was acknowledged by then. */
async function check(target: string, at: number, promised: Promised, checked: Checked, what: string): Promise<void> {
  daemon = await startDaemon(target).catch((error: unknown) => {
    throw new Error(`${what}: ${String(error)}`)
  })
  const { client } = daemon
  const id = promised.space.id
  const path = { id }
  const spaces = await client.request('GET /knowledge-spaces', { query: {} })
  if (promised.space.at <= at)
    expect(
      spaces.items.map((space) => space.id),
      what,
    ).toEqual([id])
  if (spaces.items.length > 0) {
    const ledger = new Ledger(id)
    for (const { id: documentId, note, at: answered } of promised.documents) {
      ledger.sent.add(note.filename)
      if (answered <= at) ledger.acknowledged.set(documentId, note)
    }
    for (const { id: documentId, asked, at: answered } of promised.deletions) {
      if (asked <= at) ledger.deleting.add(documentId)
      if (answered <= at) ledger.deleted.add(documentId)
    }
    const findings = await verify(client, ledger)
    expect(findings, what).toMatchObject({ lost: [], half: [], risen: [], stuck: [] })
    const documents = await settled(client, ledger)
    expect(
      documents.filter(({ parserStatus }) => parserStatus !== 'parsed'),
      what,
    ).toEqual([])
    checked.documents += ledger.acknowledged.size
    checked.deletions += ledger.deleted.size
    for (const name of new Set(promised.files.map((file) => file.path))) {
      const mine = promised.files.filter((file) => file.path === name)
      const answered = mine.filter((file) => file.at <= at)
      const possible = [...answered.slice(-1), ...mine.filter((file) => file.asked <= at && file.at > at)]
      if (answered.length === 0) continue
      const { content } = await client.request('GET /knowledge-spaces/{id}/fs/cat', { path, query: { path: name } })
      expect(
        possible.map((file) => file.content),
        `${what}: ${name}`,
      ).toContain(content)
      checked.files++
    }
    expect(await issuesOf(client, id), what).toEqual([])
  }
  await daemon.stop()
  daemon = undefined
  expect(integrityOf(join(target, 'db', 'main.sqlite')), what).toBe('ok')
  for (const suffix of ['', '.config', '.state', '.cache', '.home']) removeFolder(`${target}${suffix}`)
}
