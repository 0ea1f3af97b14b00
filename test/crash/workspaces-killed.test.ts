import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { attachDaemon, type BenchDaemon, runKs, startDaemon, temporaryFolder } from '../../bench/lib/daemon.js'
import { crashSeed, seededRandom } from './random.js'

const ROUNDS = Math.min(10, Number(process.env['KS_CRASH_ROUNDS'] ?? 4))
const WRITERS = 4
const FILES = 12

const home = temporaryFolder('crash-workspaces')
const seed = crashSeed()
const random = seededRandom(seed)
let daemon: BenchDaemon | undefined

afterAll(async () => {
  await daemon?.kill()
  home.remove()
})

/** The last acknowledged content of a file, and the last one without acknowledgement. */
interface Known {
  answered: string | undefined
  asked: string | undefined
}

test(`a daemon killed ${ROUNDS} times while agents write keeps every file that it acknowledged`, {
  timeout: (ROUNDS + 1) * 60_000,
}, async () => {
  process.stdout.write(`crash seed ${seed} (KS_CRASH_SEED=${seed} repeats the moments)\n`)
  daemon = await startDaemon(home.path)
  const { id } = await daemon.client.request('POST /knowledge-spaces', { body: { name: 'W', slug: 'w' } })
  const known = new Map<string, Known>()
  let answered = 0
  for (let round = 0; round < ROUNDS; round++) {
    const running = daemon
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let step = 0; ; step++) {
        const path = `/workspaces/agent-${writer}/notes/${Math.floor(random() * FILES)}.md`
        const state = known.get(path) ?? { answered: undefined, asked: undefined }
        known.set(path, state)
        const removes = state.answered !== undefined && random() < 0.2
        const content = removes ? undefined : textOf(round, writer, step)
        state.asked = content ?? 'removed'
        if (content === undefined)
          await running.client.request('DELETE /knowledge-spaces/{id}/fs/rm', { path: { id }, query: { path } })
        else
          await running.client.request('PUT /knowledge-spaces/{id}/fs/write', { path: { id }, body: { path, content } })
        known.set(path, { answered: content, asked: undefined })
        answered++
      }
    })
    const ended = Promise.allSettled(writers)
    await sleep(200 + random() * 800)
    await running.kill()
    await ended
    expect(await runKs(home.path, ['spaces', 'list', '--json']), `the command after kill ${round}`).toMatchObject({
      code: 0,
    })
    daemon = await attachDaemon(home.path)
    await verify(daemon, id, known)
  }
  const report = await runKs(home.path, ['fsck', 'w', '--check', 'all', '--json'])
  expect(report.code, report.stdout).toBe(0)
  process.stdout.write(
    `FIGURE crash-workspaces: rounds ${ROUNDS}, answered ${answered}, lost 0, half 0, seed ${seed}\n`,
  )
  expect(answered).toBeGreaterThan(ROUNDS)
})

/** Sizes on both sides of the limit for staging in memory. */
function textOf(round: number, writer: number, step: number): string {
  const head = `${round}-${writer}-${step}\n`
  const body = head.repeat(Math.ceil((random() < 0.3 ? 80_000 : 500) / head.length))
  return `${createHash('sha256').update(body).digest('hex')}\n${body}`
}

/** Every file has its last acknowledged or last sent content, completely. */
async function verify(running: BenchDaemon, id: string, known: Map<string, Known>): Promise<void> {
  for (const [path, state] of known) {
    const now = await running.client
      .request('GET /knowledge-spaces/{id}/fs/cat', { path: { id }, query: { path } })
      .then(({ content }) => content)
      .catch((error: { status?: number }) => {
        expect(error.status, path).toBe(404)
        return undefined
      })
    const asked = state.asked === 'removed' ? undefined : state.asked
    const allowed = state.asked === undefined ? [state.answered] : [state.answered, asked]
    expect(allowed.includes(now), `${path} is neither what was answered nor what was asked`).toBe(true)
    if (now !== undefined) {
      const [hash, ...rest] = now.split('\n')
      expect(createHash('sha256').update(rest.join('\n')).digest('hex'), path).toBe(hash)
    }
    known.set(path, { answered: now, asked: undefined })
  }
}
