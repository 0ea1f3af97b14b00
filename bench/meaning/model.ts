/**
 * With a language model: whether it is asked, and with what. A stand-in takes the place of the model: it declines what is
 * foreign to a space and answers the rest from its first passage, so that what it is given is what is measured. Nothing
 * here was tuned.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Client } from '../../src/client/client.js'
import type { EvidenceItem } from '../../src/contract/gateway/queries.js'
import { ask } from '../lib/ask.js'
import { type BenchDaemon, ROOT, startDaemon, temporaryFolder } from '../lib/daemon.js'
import { type Dataset, dataFolder, loadDataset, MEANING_SETS } from '../lib/datasets.js'
import { readPrompt } from '../lib/prompt-sources.js'
import type { Figure } from '../lib/report.js'
import { fillSpace } from '../lib/upload.js'
import { spaceOf, untilIndexed } from './research.js'
import { startStandIn } from './stand-in.js'

const MODES = ['fast', 'deep', 'research'] as const
type Mode = (typeof MODES)[number]
const DATA = join(ROOT, 'bench', 'meaning', 'data')
/** Documents of a space, and questions asked of it: its own, and those of the set before it. */
const DOCUMENTS = 300
const OWN = 30
const FOREIGN = 15
/** Documents that answer one question: a few are enough. */
const ANSWERS = 5
/** The longest list that a search gives. */
const SEARCHED = 100
/** The evidence of a query holds so many passages. */
const EVIDENCE = 10
/** What a model must never be told while something was found. */
const NOTHING = 'No passage was found'

const AMONG_100 = 'own, right document given, of those that a search finds among 100'
const BARRED = [
  'own, model asked',
  'own, right document given, of those in the evidence',
  'own, not refused',
  'foreign, model asked, where something was found',
  'foreign, its refusal is not-enough-evidence',
  'never told that nothing was found',
  'right page in the evidence, model asked',
]

/** What the stand-in was last asked to answer. */
interface Prompt {
  passages: string[]
  system: string
}

/** Counts of one mode, or of the chat. */
class Counts {
  readonly #counts = new Map<string, [hits: number, all: number]>()

  add(name: string, hit: boolean, told = ''): void {
    const [hits, all] = this.#counts.get(name) ?? [0, 0]
    this.#counts.set(name, [hits + (hit ? 1 : 0), all + 1])
    if (!hit && process.env['KS_BENCH_MISSES'] !== undefined) process.stdout.write(`  ${name}: ${told}\n`)
  }

  figures(prefix: string): Figure[] {
    return [...this.#counts].map(([name, [hits, all]]) => ({
      name: `${prefix}: ${name}`,
      value: hits / Math.max(1, all),
      unit: '',
      note: `of ${all}`,
      ...(BARRED.includes(name) ? { bar: { atLeast: 1 } } : {}),
    }))
  }
}

export async function run(): Promise<Figure[]> {
  const folder = dataFolder()
  if (folder === undefined) {
    process.stdout.write('the shared sets are not on this machine\n')
    return []
  }
  const foreign = new Set<string>()
  const asked = new Map<string, Prompt>()
  const model = await startStandIn((messages) => {
    const [system, last] = [messages[0]?.content ?? '', messages.at(-1)?.content ?? '']
    if (last.startsWith('{')) {
      const { pairs }: { pairs: unknown[] } = JSON.parse(last)
      return JSON.stringify(pairs.map(() => 'compatible'))
    }
    const { sources, question } = readPrompt(last)
    asked.set(question, { system, passages: sources.map(({ text }) => text) })
    return foreign.has(question) ? 'The sources do not answer the question.' : `${sources[0]?.text ?? ''} [1]`
  })
  const home = temporaryFolder('bench-meaning-model')
  const daemon = await startDaemon(home.path, {
    KS_DAEMON_PROVIDERS: JSON.stringify([{ pluginId: 'openai-compatible', provider: 'stand-in', baseUrl: model.url }]),
    KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/stand-in/any',
  })
  try {
    return [...(await sets(daemon, folder, { asked, foreign })), ...(await filings(daemon.client, folder, asked))]
  } finally {
    await daemon.stop()
    await model.close()
    home.remove()
  }
}

interface PageQuestion {
  question: string
  file: string
  pages: number[]
}

interface Told {
  asked: Map<string, Prompt>
  foreign: Set<string>
}

interface Question {
  text: string
  /** documents that answer it, by id, with their text; none for a foreign question */
  right: { id: string; text: string }[]
}

async function sets(daemon: BenchDaemon, folder: string, told: Told): Promise<Figure[]> {
  const counts = { fast: new Counts(), deep: new Counts(), research: new Counts(), chat: new Counts() }
  const all = MEANING_SETS.map((name) => fewOf(loadDataset(folder, name)))
  for (const [place, dataset] of all.entries()) {
    const { spaceId, own } = await spaceFor(daemon.client, dataset)
    const chat = await chatOver(daemon, spaceId)
    const before = all[place - 1]?.queries.slice(0, FOREIGN).map(({ text }) => ({ text, right: [] })) ?? []
    for (const { text } of before) told.foreign.add(text)
    for (const question of [...own, ...before]) {
      for (const mode of MODES) await countMode(daemon.client, spaceId, mode, question, told.asked, counts[mode])
      told.asked.clear()
      await chat(question.text)
      const prompt = told.asked.get(question.text)
      const items = await found(daemon.client, spaceId, question.text, 'fast', EVIDENCE)
      countPrompt(counts.chat, question, prompt, items.length > 0)
      if (question.right.length > 0) countRight(counts.chat, question, prompt, items)
    }
    process.stdout.write(`  ${dataset.name}: ${own.length} own questions, ${before.length} foreign ones\n`)
  }
  return Object.entries(counts).flatMap(([mode, tally]) => tally.figures(mode))
}

/** A space of a few of a set's documents, with the questions that these answer. */
async function spaceFor(client: Client, { name, documents, queries, judged }: Dataset) {
  const files = documents.map(({ id, title, text }) => ({ filename: `${id}.md`, text: `# ${title}\n\n${text}` }))
  const filled = await fillSpace(client, name, files)
  await untilIndexed(client, filled.spaceId)
  const texts = new Map(documents.map(({ id, text }) => [id, text]))
  const own = queries.map(({ id, text }): Question => {
    const right = [...(judged.get(id) ?? [])].filter(([document, grade]) => grade > 0 && texts.has(document))
    const idOf = (document: string) => filled.documents.get(`${document}.md`) ?? ''
    return { text, right: right.map(([document]) => ({ id: idOf(document), text: texts.get(document) ?? '' })) }
  })
  return { spaceId: filled.spaceId, own }
}

/** Documents of a set: those that answer some of its questions, and others until they are enough. */
function fewOf<Name>(dataset: Dataset<Name>): Dataset<Name> {
  const stride = Math.max(1, Math.floor(dataset.queries.length / OWN))
  const queries = dataset.queries.filter((_, place) => place % stride === 0).slice(0, OWN)
  const answering = (id: string) => [...(dataset.judged.get(id) ?? [])].filter(([, grade]) => grade > 0)
  const kept = new Set(
    queries.flatMap(({ id }) =>
      answering(id)
        .slice(0, ANSWERS)
        .map(([document]) => document),
    ),
  )
  const every = Math.max(1, Math.floor(dataset.documents.length / DOCUMENTS))
  for (const [place, { id }] of dataset.documents.entries())
    if (place % every === 0 && kept.size < DOCUMENTS) kept.add(id)
  return { ...dataset, queries, documents: dataset.documents.filter(({ id }) => kept.has(id)) }
}

async function countMode(
  client: Client,
  spaceId: string,
  mode: Mode,
  question: Question,
  asked: Map<string, Prompt>,
  counts: Counts,
): Promise<void> {
  asked.clear()
  const { bundle } = await ask(client, spaceId, question.text, mode)
  const items = bundle?.items ?? []
  const prompt = asked.get(question.text)
  const told = `${mode}: ${question.text} (${bundle?.state})`
  countPrompt(counts, question, prompt, items.length > 0)
  if (question.right.length === 0) {
    const isDeclined = bundle?.state === 'not-enough-evidence'
    if (items.length > 0) counts.add('foreign, its refusal is not-enough-evidence', isDeclined, told)
    return
  }
  counts.add('own, not refused', bundle?.state !== 'not-enough-evidence', told)
  countRight(counts, question, prompt, items)
  if (isRight(items, question)) return
  const listed = await found(client, spaceId, question.text, mode, SEARCHED)
  if (isRight(listed, question)) counts.add(AMONG_100, false, told)
}

/** Whether the model was asked, and what it was told of what was found. */
function countPrompt(counts: Counts, { text, right }: Question, prompt: Prompt | undefined, isFound: boolean): void {
  if (right.length > 0) counts.add('own, model asked', prompt !== undefined, text)
  else if (isFound) counts.add('foreign, model asked, where something was found', prompt !== undefined, text)
  if (isFound) counts.add('never told that nothing was found', prompt?.system.includes(NOTHING) !== true, text)
}

/** Whether a document that answers is among what the model was given. */
function countRight(
  counts: Counts,
  question: Question,
  prompt: Prompt | undefined,
  items: readonly EvidenceItem[],
): void {
  if (!isRight(items, question)) return
  const right = items.filter((item) => isRight([item], question))
  const isGiven = right.some(({ text }) =>
    prompt?.passages.some((passage) => passage !== '' && text.startsWith(passage)),
  )
  counts.add('own, right document given, of those in the evidence', isGiven, question.text)
  counts.add(AMONG_100, isGiven, question.text)
}

function isRight(items: readonly EvidenceItem[], { right }: Question): boolean {
  return items.some(({ citations }) => right.some(({ id }) => citations[0]?.documentAssetId === id))
}

async function found(client: Client, id: string, query: string, mode: Mode, limit: number): Promise<EvidenceItem[]> {
  const { items } = await client.request('POST /knowledge-spaces/{id}/queries/search', {
    path: { id },
    body: { query, mode, limit },
  })
  return items.map((item) => ({ ...item, conflicts: [] }))
}

/** An application over a space; each question is a conversation of its own. */
async function chatOver({ client, url }: BenchDaemon, spaceId: string): Promise<(query: string) => Promise<void>> {
  const app = await client.request('POST /chat-apps', { body: { name: 'Bench', knowledgeSpaceIds: [spaceId] } })
  const { key } = await client.request('POST /chat-apps/{appId}/keys', { path: { appId: app.id } })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return async (query) => {
    const body = { query, user: 'bench', response_mode: 'blocking', auto_generate_name: false, inputs: {} }
    const answer = await fetch(`${url}/v1/chat-messages`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`a chat message ended with ${answer.status}: ${await answer.text()}`)
    await answer.text()
  }
}

/** Pages of filings: people's questions, and ours, as `research.ts` asks them. */
async function filings(client: Client, folder: string, asked: Map<string, Prompt>): Promise<Figure[]> {
  const sample = join(folder, 'financebench-sample')
  const pdfs = join(sample, 'pdfs')
  if (!existsSync(pdfs)) return []
  const files = readdirSync(pdfs).map((filename) => ({ filename, bytes: readFileSync(join(pdfs, filename)) }))
  const space = await spaceOf(client, 'filings', files)
  const lines = (path: string) => readFileSync(path, 'utf8').trim().split('\n')
  const people = lines(join(sample, 'questions.jsonl')).map((line): PageQuestion => {
    const { text, evidence } = JSON.parse(line)
    const pages = evidence.map(({ page0 }: { page0: number }) => page0 + 1)
    return { question: text, file: basename(evidence[0]?.file ?? ''), pages }
  })
  const ours = lines(join(DATA, 'filings.jsonl')).map((line): PageQuestion => JSON.parse(line))
  const figures: Figure[] = []
  for (const mode of MODES) {
    const counts = new Counts()
    for (const { question, file, pages } of [...people, ...ours]) {
      asked.clear()
      const { bundle } = await ask(client, space.id, question, mode)
      const prompt = asked.get(question)
      counts.add('own, model asked', prompt !== undefined, question)
      counts.add('own, not refused', bundle?.state !== 'not-enough-evidence', question)
      const right = (bundle?.items ?? []).filter(({ citations: [cited] }) => {
        return (
          cited !== undefined &&
          space.files.get(cited.documentAssetId) === file &&
          pages.includes(cited.pageNumber ?? 0)
        )
      })
      counts.add('right page in the evidence', right.length > 0, question)
      if (right.length === 0) continue
      counts.add('right page in the evidence, model asked', prompt !== undefined, question)
      const isGiven = right.some(({ text }) => prompt?.passages.some((one) => one !== '' && text.startsWith(one)))
      counts.add('right page in the evidence, page given', isGiven, question)
    }
    figures.push(...counts.figures(`filings, ${mode}`))
  }
  return figures
}
