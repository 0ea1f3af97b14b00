import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { Client } from '../../src/client/client.js'
import { paginate } from '../../src/client/pages.js'
import { clusterKey, queryKey } from '../../src/engine/traces/capture.js'
import { newId } from '../../src/lib/ids.js'
import { ask } from '../lib/ask.js'
import { startDaemon, temporaryFolder } from '../lib/daemon.js'
import type { Figure } from '../lib/report.js'
import { printTable } from '../lib/report.js'
import { fillSpace, waitUntilIdle } from '../lib/upload.js'
import { type Half, type TriageQuestion, type TriageSpace, triageSpaces } from './triage-data.js'

const VERDICTS = ['retrieval-miss', 'coverage-gap', 'uncertain', 'irrelevant'] as const
/** What `KS_BENCH_EVIDENCE` names gets a line of JSON for each question: the way to look at what the rules see. */
const EVIDENCE_FILE = process.env['KS_BENCH_EVIDENCE']

interface Triaged extends TriageQuestion {
  space: string
  half: Half
  /** what the product says of it */
  said: string
  /** it was captured when it was asked, and not only written down for triage */
  failed: boolean
}

/**
 * Triage of questions whose cause is known, in spaces to tune with and others to report on. Every question is triaged,
 * whether it fails today or not: which do is a matter of the gate, and changes with it.
 */
export async function run(): Promise<Figure[]> {
  const triaged: Triaged[] = []
  for (const space of triageSpaces()) triaged.push(...(await triageOf(space)))
  printKinds(triaged)
  return (['tune', 'report'] as const).flatMap((half) => figuresOf(half, triaged))
}

async function triageOf(space: TriageSpace): Promise<Triaged[]> {
  const home = temporaryFolder('bench-triage')
  const dataDir = join(home.path, 'data')
  const daemon = await startDaemon(dataDir)
  try {
    const { client } = daemon
    const { spaceId } = await fillSpace(client, 'triage', space.files)
    await waitUntilIdle(client)
    for (const { question } of space.questions) await ask(client, spaceId, question)
    const failed = new Set((await failedQueries(client, spaceId)).map(({ query }) => query))
    writeDown(
      dataDir,
      spaceId,
      space.questions.filter(({ question }) => !failed.has(question.trim())).map(({ question }) => question),
    )
    await triageAll(client, spaceId)
    const said = new Map(
      (await failedQueries(client, spaceId)).map(({ query, metadata }) => [query, metadata['triage']]),
    )
    return space.questions.map((one) => {
      const triage: unknown = said.get(one.question) ?? said.get(one.question.trim())
      if (EVIDENCE_FILE !== undefined)
        appendFileSync(EVIDENCE_FILE, `${JSON.stringify({ ...one, space: space.name, half: space.half, triage })}\n`)
      const verdict = String(Reflect.get(Object(triage), 'verdict'))
      return { ...one, space: space.name, half: space.half, said: verdict, failed: failed.has(one.question.trim()) }
    })
  } finally {
    await daemon.stop()
    home.remove()
  }
}

/** Rows as capturing makes them, of questions that did not fail. */
function writeDown(dataDir: string, spaceId: string, questions: readonly string[]): void {
  const db = new Sqlite(join(dataDir, 'db', 'main.sqlite'))
  try {
    const space = db.prepare('SELECT key, tenant FROM spaces WHERE id = ?').get(spaceId)
    const insert = db.prepare(
      `INSERT INTO failed_queries (id, tenant, space_key, query, query_key, cluster_key, mode, trigger, status, occurrences, asked_at, metadata, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, 'fast', 'no-retrieval-evidence', 'pending-triage', 1, 0, '{}', 0, 0)`,
    )
    const [key, tenant] = [Reflect.get(Object(space), 'key'), Reflect.get(Object(space), 'tenant')]
    for (const text of questions) insert.run(newId(), tenant, key, text, queryKey(text), clusterKey(text))
  } finally {
    db.close()
  }
}

async function failedQueries(client: Client, id: string) {
  const found = []
  const pages = paginate(
    (query) => client.request('GET /knowledge-spaces/{id}/failed-queries', { path: { id }, query }),
    { pageSize: 200 },
  )
  for await (const failed of pages) found.push(failed)
  return found
}

async function triageAll(client: Client, id: string): Promise<void> {
  for (;;) {
    const { triaged } = await client.request('POST /knowledge-spaces/{id}/failed-queries/triage', {
      path: { id },
      query: { limit: 200 },
    })
    if (triaged === 0) return
  }
}

function figuresOf(half: Half, all: readonly Triaged[]): Figure[] {
  const mine = all.filter((one) => one.half === half)
  const byHand = mine.filter(
    ({ kind }) => !/^(own|other|questions of)\b/.test(kind) || kind === 'other domain' || kind === 'other language',
  )
  const answerable = mine.filter(({ verdict }) => verdict === 'retrieval-miss')
  const right = (some: readonly Triaged[]): number =>
    some.filter(({ said, verdict }) => said === verdict).length / Math.max(1, some.length)
  const irrelevant = answerable.filter(({ said }) => said === 'irrelevant').length
  const called = mine.filter(({ said }) => said === 'irrelevant')
  const of = (some: readonly unknown[]): string => `${half} set, ${some.length} questions`
  return [
    {
      name: `${half}: answerable called irrelevant`,
      value: irrelevant,
      unit: '',
      bar: { atMost: 0 },
      note: of(answerable),
    },
    { name: `${half}: right cause, by hand`, value: right(byHand), unit: '', bar: { atLeast: 0.6 }, note: of(byHand) },
    ...VERDICTS.filter((verdict) => verdict !== 'uncertain').map((verdict): Figure => {
      const some = byHand.filter((one) => one.verdict === verdict)
      return { name: `${half}: ${verdict} called so, by hand`, value: right(some), unit: '', note: of(some) }
    }),
    { name: `${half}: irrelevant is right`, value: right(called), unit: '', note: of(called) },
  ]
}

function printKinds(triaged: readonly Triaged[]): void {
  const groups = new Map<string, Triaged[]>()
  for (const one of triaged) {
    const name = `${one.half}, ${one.space}: ${one.kind} (${one.verdict})`
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  printTable(
    ['kind', 'questions', 'failed', ...VERDICTS],
    [...groups].map(([name, some]) => [
      name,
      String(some.length),
      String(some.filter(({ failed }) => failed).length),
      ...VERDICTS.map((verdict) => String(some.filter(({ said }) => said === verdict).length)),
    ]),
  )
}
