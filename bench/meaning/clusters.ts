import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../src/client/client.js'
import { nearestCluster } from '../../src/engine/quality/assign-cluster.js'
import { type Meaning, meaningOf } from '../../src/engine/quality/meaning.js'
import { ask } from '../lib/ask.js'
import { ROOT, startDaemon, temporaryFolder } from '../lib/daemon.js'
import type { Figure } from '../lib/report.js'
import { fillSpace, waitUntilIdle } from '../lib/upload.js'
import { startStandIn } from './stand-in.js'

type Half = 'tune' | 'report'

interface Group {
  /** what it is about: different questions on one topic are told apart or not */
  topic: string
  /** phrasings of one question, or a single one that is only there to be kept apart */
  questions: string[]
}

/** A document and questions that it answers, each in four phrasings. */
interface Document {
  language: string
  filename: string
  text: string
  questions: string[][]
  /** questions on the same subject that are none of those: another thing, year, side of it */
  apart?: string[]
}

/** Documents whose questions are reported were written after the code, before it was asked about them; none is tuned on. */
const FILES: Record<Half, string> = { tune: 'clusters-asked', report: 'clusters-unseen' }
const LANGUAGES = ['en', 'de', 'fr', 'es', 'zh'] as const

/**
 * Which questions become one cluster, as they come in: a first phrasing of every question, then a second of every one.
 * By words alone, in no space; and asked of documents, where what they point to counts too. There a stand-in for a model
 * refuses every question, so that all of them fail.
 */
export async function run(): Promise<Figure[]> {
  const figures = figuresOf('tune, words alone, English', linesOf<Group>('clusters'), clusteredByWords)
  const all = [...figures]
  for (const half of ['tune', 'report'] as const) {
    const documents = linesOf<Document>(FILES[half])
    all.push(...figuresOf(`${half}, words alone`, groupsOf(documents), clusteredByWords))
    const keys = await clusteredByAsking(documents)
    all.push(...figuresOf(`${half}, asked`, groupsOf(documents), () => keys))
    for (const language of LANGUAGES) {
      const some = groupsOf(documents.filter((document) => document.language === language))
      for (const [name, cluster] of [
        ['words alone', clusteredByWords],
        ['asked', () => keys],
      ] as const) {
        const [whole] = figuresOf(`${half}, ${name}, ${language}`, some, cluster)
        if (whole !== undefined) all.push({ name: whole.name, value: whole.value, unit: '', note: whole.note ?? '' })
      }
    }
  }
  return all
}

function linesOf<Line>(name: string): Line[] {
  const lines = readFileSync(join(ROOT, 'bench', 'meaning', 'data', `${name}.jsonl`), 'utf8').trim()
  return lines.split('\n').map((line): Line => JSON.parse(line))
}

function groupsOf(documents: readonly Document[]): Group[] {
  return documents.flatMap(({ filename, questions, apart = [] }) =>
    [...questions, ...apart.map((question) => [question])].map((phrasings) => ({
      topic: filename,
      questions: phrasings,
    })),
  )
}

type Cluster = (groups: readonly Group[]) => ReadonlyMap<string, unknown>

function figuresOf(name: string, groups: readonly Group[], cluster: Cluster): Figure[] {
  const keys = cluster(groups)
  const phrased = groups.filter(({ questions }) => questions.length > 1)
  const whole = phrased.filter(({ questions }) => new Set(questions.map((question) => keys.get(question))).size === 1)
  const same = { pairs: 0, one: 0 }
  const other = { pairs: 0, one: 0 }
  const elsewhere = { pairs: 0, one: 0 }
  const count = (counted: { pairs: number; one: number }, question: string, another: string): void => {
    counted.pairs++
    if (keys.get(question) === keys.get(another)) counted.one++
  }
  for (const [at, one] of groups.entries()) {
    for (const [place, question] of one.questions.entries())
      for (const another of one.questions.slice(place + 1)) count(same, question, another)
    for (const sibling of groups.slice(at + 1))
      for (const question of one.questions)
        for (const another of sibling.questions)
          count(sibling.topic === one.topic ? other : elsewhere, question, another)
  }
  return [
    {
      name: `${name}: all phrasings in one cluster`,
      value: whole.length / phrased.length,
      unit: '',
      bar: { atLeast: 0.8 },
      note: `${phrased.length} questions in four phrasings`,
    },
    {
      name: `${name}: pairs that ask the same in one cluster`,
      value: same.one / same.pairs,
      unit: '',
      note: `${same.pairs} pairs`,
    },
    {
      name: `${name}: different questions on one subject in one cluster`,
      value: other.one / other.pairs,
      unit: '',
      bar: { atMost: 0.05 },
      note: `${other.pairs} pairs`,
    },
    {
      name: `${name}: pairs in one cluster that ask the same`,
      value: same.one / (same.one + other.one + elsewhere.one),
      unit: '',
      bar: { atLeast: 0.95 },
      note: `${other.one} of one subject and ${elsewhere.one} of two are merged`,
    },
  ]
}

/** Phrasings in the order in which they come. */
function* inOrder(groups: readonly Group[]): Generator<string> {
  const most = Math.max(...groups.map(({ questions }) => questions.length))
  for (let place = 0; place < most; place++)
    for (const { questions } of groups) {
      const question = questions[place]
      if (question !== undefined) yield question
    }
}

/** Keys of the clusters by question. */
function clusteredByWords(groups: readonly Group[]): Map<string, number> {
  const clusters = new Map<number, Meaning[]>()
  const keys = new Map<string, number>()
  for (const question of inOrder(groups)) {
    const meaning = meaningOf(question)
    const key = nearestCluster(meaning, clusters) ?? clusters.size
    clusters.set(key, [...(clusters.get(key) ?? []), meaning])
    keys.set(question, key)
  }
  return keys
}

async function clusteredByAsking(documents: readonly Document[]): Promise<Map<string, string>> {
  const home = temporaryFolder('bench-clusters')
  const model = await startStandIn(() => 'The sources do not answer the question.')
  try {
    const daemon = await startDaemon(join(home.path, 'data'), {
      KS_DAEMON_PROVIDERS: JSON.stringify([
        { pluginId: 'openai-compatible', provider: 'stand-in', baseUrl: model.url },
      ]),
      KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/stand-in/any',
    })
    try {
      const { client } = daemon
      const { spaceId } = await fillSpace(client, 'clusters', documents)
      await waitUntilIdle(client)
      let captured = 0
      for (const question of inOrder(groupsOf(documents))) {
        await ask(client, spaceId, question)
        captured = await untilCaptured(client, spaceId, captured)
      }
      return await keysOf(client, spaceId)
    } finally {
      await daemon.stop()
    }
  } finally {
    await model.close()
    home.remove()
  }
}

const POLLS = 200

/** Queries are captured behind their answers; the next is asked when there is one more. @returns how many there are */
async function untilCaptured(client: Client, id: string, before: number): Promise<number> {
  for (let poll = 0; poll < POLLS; poll++) {
    const { total } = await client.request('GET /knowledge-spaces/{id}/failed-queries/metrics', { path: { id } })
    if (total > before) return total
  }
  throw new Error('a question did not fail')
}

async function keysOf(client: Client, id: string): Promise<Map<string, string>> {
  const clusters = await clustersOf(client, id)
  const questions = new Map<string, string>()
  let cursor: string | undefined
  do {
    const page = await client.request('GET /knowledge-spaces/{id}/failed-queries', {
      path: { id },
      query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) },
    })
    for (const item of page.items) questions.set(item.id, item.query)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return new Map(
    clusters.flatMap(({ clusterKey, failedQueryIds }) =>
      failedQueryIds.map((failed) => [questions.get(failed) ?? '', clusterKey] as const),
    ),
  )
}

/** Failed queries are compared behind the questions; who asks for the clusters waits for that, but not for long. */
async function clustersOf(client: Client, id: string) {
  for (let poll = 0; poll < POLLS; poll++) {
    const begun = performance.now()
    const { clusters } = await client.request('GET /knowledge-spaces/{id}/failed-queries/clusters', {
      path: { id },
      query: { limit: 1000 },
    })
    if (performance.now() - begun < ALL_COMPARED_MS) return clusters
  }
  throw new Error('the failed queries were not compared')
}

/** An answer that comes sooner waited for nothing. */
const ALL_COMPARED_MS = 1500
