import { once } from 'node:events'
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { afterAll, expect, test } from 'vitest'
import {
  attachDaemon,
  type BenchDaemon,
  KS,
  privateEnv,
  runKs,
  startDaemon,
  temporaryFolder,
} from '../../bench/lib/daemon.js'
import type { Client } from '../../src/client/client.js'
import { crashSeed, seededRandom } from './random.js'

const FILES = 1000
const BURST = 300
const KILLS = 4
const SETTLE_MS = 120_000

const home = temporaryFolder('watch-killed')
const folder = join(home.path, 'notes')
const seed = crashSeed()
const random = seededRandom(seed)
let daemon: BenchDaemon | undefined
let spaceId = ''

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

/** File names of the live documents, with duplicates. */
async function documents(client: Client): Promise<string[]> {
  const found: string[] = []
  let cursor: string | undefined
  do {
    const query = { limit: '100', ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.request('GET /knowledge-spaces/{id}/documents', { path: { id: spaceId }, query })
    found.push(
      ...page.items.map(({ filename, parserStatus }) =>
        parserStatus === 'parsed' ? filename : `${filename} ${parserStatus}`,
      ),
    )
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return found.sort()
}

function onDisk(): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join('notes', entry.parentPath.slice(folder.length), entry.name))
    .sort()
}

/** Seconds until the space contains exactly the files of the folder. */
async function converged(client: Client): Promise<number> {
  const started = performance.now()
  for (;;) {
    const held = await documents(client)
    if (JSON.stringify(held) === JSON.stringify(onDisk())) return (performance.now() - started) / 1000
    if (performance.now() - started > SETTLE_MS) {
      expect(held).toEqual(onDisk())
      throw new Error('not converged')
    }
    await sleep(250)
  }
}

test('F47: a watch whose daemon is killed during changes and renames loses and duplicates no document', {
  timeout: 600_000,
}, async () => {
  process.stdout.write(`crash seed ${seed}\n`)
  mkdirSync(join(folder, 'a'), { recursive: true })
  for (let place = 0; place < FILES; place++)
    writeFileSync(join(folder, 'a', `n-${place}.md`), `# Note ${place}\n\nword${place}\n`)
  daemon = await startDaemon(join(home.path, 'data'))
  spaceId = (await daemon.client.request('POST /knowledge-spaces', { body: { name: 'Notes', slug: 'notes' } })).id
  await daemon.client.request('POST /daemon/watches', { body: { knowledgeSpaceId: spaceId, folder } })
  const first = await converged(daemon.client)
  const settled: number[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    change(kill)
    await sleep(100 + random() * 1500)
    await daemon.kill()
    // Any next command of the user starts the daemon again.
    expect(await runKs(join(home.path, 'data'), ['watch', '--json'])).toMatchObject({ code: 0 })
    daemon = await attachDaemon(join(home.path, 'data'))
    settled.push(await converged(daemon.client))
  }
  process.stdout.write(
    `FIGURE crash-watch-daemon: files ${onDisk().length}, first look ${first.toFixed(1)} s, kills ${KILLS}, ` +
      `converged in ${settled.map((s) => s.toFixed(1)).join(', ')} s, lost 0, doubled 0, seed ${seed}\n`,
  )
})

test('a killed `ks watch` in the foreground loses and duplicates no document', { timeout: 600_000 }, async () => {
  const { client } = daemon!
  const { items } = await client.request('GET /daemon/watches', {})
  for (const { id } of items) await client.request('DELETE /daemon/watches/{watchId}', { path: { watchId: id } })
  for (let kill = 0; kill < KILLS; kill++) {
    const child = execa(process.execPath, [KS, 'watch', folder, '--space', 'notes'], {
      env: privateEnv(join(home.path, 'data')),
      stdio: 'ignore',
      buffer: false,
      reject: false,
      extendEnv: false,
    })
    const exit = once(child, 'exit')
    await sleep(700)
    change(KILLS + kill)
    await sleep(100 + random() * 1200)
    child.kill('SIGKILL')
    await exit
  }
  const end = await runKs(join(home.path, 'data'), ['watch', folder, '--space', 'notes', '--once'])
  expect(end).toMatchObject({ code: 0 })
  const settled = await converged(client)
  process.stdout.write(
    `FIGURE crash-watch-foreground: kills ${KILLS}, converged in ${settled.toFixed(1)} s after one look, lost 0, doubled 0\n`,
  )
})

/** A burst of new and edited files, or a new name for the folder of a thousand files. */
function change(round: number): void {
  if (round % 2 === 1) {
    const from = readdirSync(folder).find((name) => name.startsWith('a'))!
    renameSync(join(folder, from), join(folder, `a${round}`))
    return
  }
  mkdirSync(join(folder, `burst-${round}`))
  for (let place = 0; place < BURST; place++)
    writeFileSync(join(folder, `burst-${round}`, `b-${place}.md`), `# Burst ${round}-${place}\n\nbolt${place}\n`)
  const inside = readdirSync(folder).find((name) => name.startsWith('a'))!
  for (let place = 0; place < 20; place++) {
    writeFileSync(join(folder, inside, `n-${round * 40 + place}.md`), `# Edited ${place}\n\nround${round}\n`)
    rmSync(join(folder, inside, `n-${round * 40 + 20 + place}.md`))
  }
}
