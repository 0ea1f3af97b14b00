import { JobRunner } from '../../../../src/engine/ingest/jobs/runner.js'
import type { JobRow } from '../../../../src/engine/store/rows/jobs.js'
import type { SpaceRow } from '../../../../src/engine/store/rows/spaces.js'
import { purgeSlice } from '../../../../src/engine/upkeep/retention/purge.js'
import { openSmallStore, type SmallStore } from '../../../helpers/store.js'
import { until } from '../../../helpers/until.js'

/** A runner on a small store, woken by the test only. */
export interface SmallRunner {
  store: SmallStore
  runner: JobRunner
  /** The clock for ages. */
  clock: number
  /** Whether the disk is full. */
  isFull: boolean
  /** Names of the files of every compiled batch. */
  batches: string[][]
  /** Called before each batch is compiled: it may wait or throw. */
  before: (files: string[], signal: AbortSignal | undefined) => unknown
  /** Uploads files and wakes the runner. @returns ids of their jobs */
  send(space: SpaceRow, files: Record<string, string>): Promise<string[]>
  sendOne(space: SpaceRow, name: string, text?: string): Promise<string>
  /** Names of the documents that readers see. */
  visible(): string[]
  /** Resolves when nothing is claimed and nothing runs. */
  idle(): Promise<void>
  /** Resolves when a file is being compiled. */
  reading(name: string): Promise<void>
  /** Ends every pause and wakes the runner. */
  skipPauses(): void
  /** Waits until a job had the given number of attempts or has ended; skips each pause. */
  untilTried(id: string, times: number, what?: 'attempts' | 'waits'): Promise<JobRow>
  end(): Promise<void>
}

export async function openSmallRunner(): Promise<SmallRunner> {
  const state: Pick<SmallRunner, 'clock' | 'isFull'> = { clock: Date.now(), isFull: false }
  const room = {
    get isFull() {
      return state.isFull
    },
    noteError() {},
  }
  const store = await openSmallStore({ now: () => state.clock, diskReserve: room as never })
  const { compile } = store.context.compiler
  store.context.compiler.compile = async (requests, signal) => {
    const files = requests.map(({ filename }) => filename)
    it.batches.push(files)
    await it.before(files, signal)
    return await compile(requests, signal)
  }
  const runner = new JobRunner(store.context, purgeSlice)
  const it: SmallRunner = Object.assign(state, {
    store,
    runner,
    batches: [],
    before: () => undefined,
    async send(space, files) {
      const accepted = await store.upload(space, files)
      runner.wake()
      return accepted.map(({ compilationJob }) => compilationJob.id)
    },
    async sendOne(space, name, text = `text of ${name}`) {
      const [id = ''] = await it.send(space, { [name]: text })
      return id
    },
    visible() {
      const rows = store.rows<{ filename: string }>(
        `SELECT filename FROM versions JOIN documents ON documents.key = doc_key
         WHERE from_revision IS NOT NULL AND until_revision IS NULL ORDER BY filename`,
      )
      return rows.map(({ filename }) => filename)
    },
    idle: () =>
      until(async () => {
        const claimed = store.rows('SELECT key FROM jobs WHERE claimed_by IS NOT NULL')
        return claimed.length === 0 && (await runner.activity()).activeJobs === 0
      }),
    reading: (name) => until(() => it.batches.some((files) => files.includes(name))),
    skipPauses() {
      store.run('UPDATE jobs SET run_after = 0 WHERE completed_at IS NULL')
      runner.wake()
    },
    async untilTried(id, times, what = 'attempts') {
      for (let job = store.job(id); job.completed_at === null && job[what] < times; job = store.job(id)) {
        const known = job[what]
        it.skipPauses()
        await until(() => store.job(id)[what] > known || store.job(id).completed_at !== null)
        await it.idle()
      }
      return store.job(id)
    },
    async end() {
      await runner.stop()
      await store.end()
    },
  } satisfies Omit<SmallRunner, 'clock' | 'isFull'>)
  return it
}

/** A promise that the test resolves with `open`. */
export function gate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}
