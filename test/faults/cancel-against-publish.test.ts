import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { Database } from '../../src/engine/store/database.js'
import type { ChangeCount, Write } from '../../src/engine/store/program.js'
import { seededRandom } from '../crash/random.js'
import { allIssues, sql } from '../engine/upkeep/integrity/space.js'
import { ADA, ingest, startEngine, type TestEngine, uploadOne } from '../helpers/engine.js'
import { faultSeed, rounds } from './rig/rounds.js'

const ROUNDS = rounds(75)
const TIMEOUT_MS = 240_000 + rounds(1) * 40_000
/** turns of the event loop that the index process needs to reply */
const MOST_TURNS = 2 ** 9

let running: TestEngine | undefined
afterEach(async () => {
  vi.restoreAllMocks()
  await running?.end()
  running = undefined
})

/** When a job is canceled. */
interface Moment {
  /** The transaction that triggers the cancel: the publication, or the n-th since the job was accepted; -1: at once */
  transaction: number | 'publication'
  /** queued before it, after it in the same commit, or some turns of the event loop after it is durable */
  side: 'ahead' | 'behind' | 'after'
  turns: number
}

interface Move {
  job: string
  to: string
  isDone: boolean
}

/** Observes the transitions of jobs in the database, and starts an action at a given moment. */
class Watch {
  /** transactions that started since `arm` */
  seen = 0
  readonly moves: Move[] = []
  /** the commit that contained the transaction of the action */
  firedIn = 0
  /** the commit of the last publishing transaction, whether it published something or not */
  publishedIn: number | undefined
  #isFiring = false
  #armed: { moment: Moment; act: () => void } | undefined
  #commit = 0
  #isNumbered = false

  constructor() {
    const watch = this
    const { write, execute } = Database.prototype
    vi.spyOn(Database.prototype, 'write').mockImplementation(function <T>(this: Database, work: () => Write<T> | T) {
      if (watch.#isFiring) {
        const marked = () => {
          watch.firedIn = watch.#numberOfCommit()
          return work()
        }
        return write.call(this, marked) as Promise<T>
      }
      // The called functions identify the publishing transaction.
      const isPublication = String(work).includes('publishClaimed(space, built')
      const places = [watch.seen++, ...(isPublication ? ['publication' as const] : [])]
      watch.#reach(places, 'ahead')
      const noted = () => {
        if (isPublication) watch.publishedIn = watch.#numberOfCommit()
        return work()
      }
      const result = write.call(this, noted)
      watch.#reach(places, 'behind')
      result.then(
        () => watch.#reach(places, 'after'),
        () => undefined,
      )
      return result as Promise<T>
    })
    vi.spyOn(Database.prototype, 'execute').mockImplementation(function (this: Database, asked) {
      const done = execute.call(this, asked)
      const [lists, changes] =
        'lists' in asked
          ? [asked.lists, done as number[]]
          : [[asked.values], [(done as ChangeCount | undefined)?.changes]]
      const isAnyMove = asked.sql.startsWith('UPDATE jobs SET stage = ?, error = ?')
      const isPublication = asked.sql.startsWith("UPDATE jobs SET stage = 'published'")
      for (const [place, values] of lists.entries()) {
        const isDone = changes[place] === 1
        if (isAnyMove) watch.moves.push({ job: String(values[5]), to: String(values[0]), isDone })
        else if (isPublication) watch.moves.push({ job: String(values[3]), to: 'published', isDone })
      }
      return done
    })
  }

  arm(moment: Moment, act: () => void): void {
    this.seen = 0
    this.publishedIn = undefined
    this.#armed = { moment, act }
    if (moment.transaction === -1) this.fire()
  }

  /** Performs the pending actions. */
  fire(): void {
    const act = this.#armed?.act
    this.#armed = undefined
    this.#isFiring = true
    act?.()
    this.#isFiring = false
  }

  #reach(places: Moment['transaction'][], side: Moment['side']): void {
    const moment = this.#armed?.moment
    if (moment === undefined || !places.includes(moment.transaction) || moment.side !== side) return
    if (side !== 'after') this.fire()
    else void this.#fireLater(moment)
  }

  async #fireLater(moment: Moment): Promise<void> {
    for (let count = 0; count < moment.turns; count++) await turn()
    if (this.#armed?.moment === moment) this.fire()
  }

  /** Transactions of one commit run without a pause. */
  #numberOfCommit(): number {
    if (!this.#isNumbered) {
      this.#isNumbered = true
      this.#commit++
      queueMicrotask(() => {
        this.#isNumbered = false
      })
    }
    return this.#commit
  }
}

/** Rows of a version of a document. */
function rowsOf(dataDir: string, documentId: string, version: number) {
  return sql(dataDir, (db) => {
    const count = (query: string) => (db.prepare(query).get(documentId, version) as { n: number }).n
    const versions =
      'FROM versions JOIN documents ON documents.key = doc_key WHERE documents.id = ? AND versions.version = ?'
    return {
      visible: count(`SELECT count(*) n ${versions} AND from_revision IS NOT NULL AND until_revision IS NULL`),
      versions: count(`SELECT count(*) n ${versions}`),
      nodes: count(`SELECT count(*) n FROM nodes WHERE version_key IN (SELECT versions.key ${versions})`),
    }
  })
}

/** When the cancel of a round happened, in the categories that matter. */
function place(outcome: Outcome, canceledIn: number, publishedIn: number | undefined): Place {
  if (canceledIn === publishedIn) return outcome === 'canceled' ? 'same commit, first' : 'same commit, second'
  return outcome === 'canceled' ? 'earlier commit' : 'later commit'
}

type Place = 'earlier commit' | 'same commit, first' | 'same commit, second' | 'later commit'

/** How the job of a round starts. */
const KINDS = ['new', 'replacement', 'again'] as const

/** The effect of a cancel on a job. */
type Outcome = 'canceled' | 'already-terminal' | 'something else'

test('F51: a job that is canceled around its publication is either published and found, or canceled and not found', {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = faultSeed()
  const random = seededRandom(seed)
  const upTo = (most: number) => Math.floor(random() * (most + 1))
  const watch = new Watch()
  running = await startEngine()
  const { engine, dataDir } = running
  const { id: space } = await engine.spaces.create(ADA, { name: 'Race', slug: 'race' })

  /** Whether a document is found by its unique word and is listed among the files. */
  const found = async (documentId: string, word: string, folder: string) => {
    const filter = { limit: 5, activeDocumentIds: [], activeEntityIds: [] }
    const { items } = await engine.queries.search(ADA, space, { query: word, ...filter })
    const files = await engine.fs.ls(ADA, space, { path: `/sources/uploads/${folder}`, limit: 100 }).then(
      (listing) => listing.items,
      () => [],
    )
    return {
      searched: items.some((item) => JSON.stringify(item).includes(documentId)),
      listed: files.some((file) => file.targetId === documentId),
    }
  }

  watch.arm({ transaction: Number.POSITIVE_INFINITY, side: 'after', turns: 0 }, () => undefined)
  await ingest(engine, ADA, space, { 'first.md': '# First\n\nHow many transactions does one job take?\n' })
  const transactions = watch.seen
  const counts = { 'earlier commit': 0, 'same commit, first': 0, 'same commit, second': 0, 'later commit': 0 }
  const count = (name: Place) => {
    counts[name]++
  }

  for (let round = 0; round < ROUNDS; round++) {
    const kind = KINDS[round % KINDS.length] ?? 'new'
    const folder = `round${round}`
    const word = `quagga${seed}x${round}`
    const filename = `${folder}/note.md`
    const text = `# Note of ${folder}\n\nThe ${word} lives here.\n\n## More\n\nAnd its ${word} sister too.\n`
    const old = `okapi${seed}x${round}`
    const before =
      kind === 'replacement'
        ? (await ingest(engine, ADA, space, { [filename]: `# Old\n\nHere lived the ${old}.\n` }))[0]?.asset.id
        : undefined
    let accepted = await uploadOne(engine, ADA, space, { filename, text })
    if (kind === 'again') {
      // A document whose first job was canceled and which is compiled again.
      await engine.jobs.cancel(ADA, accepted.compilationJob.id)
      const { id } = await engine.jobs.retry(ADA, accepted.compilationJob.id)
      accepted = { ...accepted, compilationJob: { ...accepted.compilationJob, id } }
    }
    const documentId = accepted.asset.id
    const jobId = accepted.compilationJob.id
    const sides = ['ahead', 'behind', 'after'] as const
    const moment: Moment = {
      transaction: random() < 0.5 ? 'publication' : upTo(transactions) - 1,
      side: sides[upTo(2)] ?? 'after',
      turns: Math.floor(MOST_TURNS ** random()),
    }
    const outcome = await new Promise<Outcome>((resolve) => {
      const cancel = () =>
        engine.jobs.cancel(ADA, jobId).then(
          () => resolve('canceled'),
          (error) => resolve(error.code === 'already-terminal' ? 'already-terminal' : 'something else'),
        )
      watch.arm(moment, cancel)
      // A moment that does not occur counts as after the publication.
      void engine.documents.settled(ADA, space, accepted).then(() => watch.fire())
    })
    await engine.documents.settled(ADA, space, accepted)

    const { stage, version } = await engine.jobs.get(ADA, jobId)
    const document = await engine.documents.get(ADA, space, documentId)
    const rows = rowsOf(dataDir, documentId, version)
    const seen = await found(documentId, word, folder)
    const what = `seed ${seed}, round ${round} (${kind}), ${JSON.stringify(moment)}`
    if (outcome === 'canceled') {
      expect({ stage, status: document.parserStatus, rows, seen }, what).toEqual({
        stage: 'canceled',
        // a document whose edit is canceled keeps its published version
        status: before === undefined ? 'failed' : 'parsed',
        rows: { visible: 0, versions: 0, nodes: 0 },
        seen: { searched: false, listed: before !== undefined },
      })
    } else {
      expect({ outcome, stage, status: document.parserStatus, rows, seen }, what).toEqual({
        outcome: 'already-terminal',
        stage: 'published',
        status: 'parsed',
        rows: { visible: 1, versions: 1, nodes: expect.any(Number) },
        seen: { searched: true, listed: true },
      })
      expect(rows.nodes, what).toBeGreaterThan(0)
    }
    if (before !== undefined) {
      expect(before, what).toBe(documentId)
      expect(await found(before, old, folder), what).toEqual({ searched: outcome === 'canceled', listed: true })
    }

    // Exactly one of the two transitions.
    const moves = watch.moves.filter(({ job }) => job === jobId)
    const ends = moves.filter(({ to, isDone }) => isDone && (to === 'canceled' || to === 'published'))
    expect(
      ends.map(({ to }) => to),
      what,
    ).toEqual([outcome === 'canceled' ? 'canceled' : 'published'])
    count(place(outcome, watch.firedIn, watch.publishedIn))
  }
  console.log(
    `F51: ${ROUNDS} rounds of seed ${seed}, cancels by their place to the publication: ${JSON.stringify(counts)}`,
  )
  for (const [name, number] of Object.entries(counts)) expect(number, name).toBeGreaterThan(0)
  expect(await allIssues(engine, space)).toEqual([])
})
