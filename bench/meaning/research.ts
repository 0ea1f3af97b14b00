/**
 * Research tasks, their reports checked by rules: every name of the question keeps a part of its own, passages are of
 * the documents of that name, statements stand in the passages that they cite, what is not there is said to be missing,
 * and the pages of filings are found. Half of the questions was tuned on; the other half is reported apart.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/client/client.js'
import type { EvidenceItem } from '../../src/contract/gateway/queries.js'
import type { ResearchReport } from '../../src/contract/gateway/research.js'
import { ask } from '../lib/ask.js'
import { ROOT, startDaemon, temporaryFolder } from '../lib/daemon.js'
import { dataFolder } from '../lib/datasets.js'
import { readPrompt } from '../lib/prompt-sources.js'
import type { Figure } from '../lib/report.js'
import { waitUntilIdle } from '../lib/upload.js'
import { startStandIn } from './stand-in.js'

interface WantedPart {
  of: string
  asks: string[]
  files: string[]
  /** what the section says, word for word */
  holds?: string
  /** nothing in the documents tells it */
  absent?: boolean
}

interface Question {
  set: 'tune' | 'report'
  query: string
  parts: WantedPart[]
}

interface Notes {
  files: Record<string, string>
  questions: Question[]
  filings: Question[]
}

interface PageQuestion {
  set: Question['set']
  file: string
  pages: number[]
  question: string
}

const DATA = join(ROOT, 'bench', 'meaning', 'data')
const POLL_MS = 50

export async function run(): Promise<Figure[]> {
  const notes: Notes = JSON.parse(readFileSync(join(DATA, 'research-notes.json'), 'utf8'))
  const filings = join(dataFolder() ?? '', 'financebench-sample', 'pdfs')
  const files = Object.entries(notes.files).map(([filename, text]) => ({ filename, bytes: Buffer.from(text) }))
  const pdfs = existsSync(filings)
    ? readdirSync(filings).map((filename) => ({ filename, bytes: readFileSync(join(filings, filename)) }))
    : []
  const home = temporaryFolder('bench-meaning-research')
  const model = await startStandIn(sayWhatIsThereAndMore)
  const provider = { pluginId: 'openai-compatible', provider: 'stand-in', baseUrl: model.url }
  const figures: Figure[] = []
  try {
    for (const kind of ['rules', 'model'] as const) {
      const settings = { KS_DAEMON_DEFAULT_GENERATOR: 'openai-compatible/stand-in/any' }
      const daemon = await startDaemon(join(home.path, kind), {
        KS_DAEMON_PROVIDERS: JSON.stringify([provider]),
        ...(kind === 'model' ? settings : {}),
      })
      try {
        const small = await spaceOf(daemon.client, 'notes', files)
        const large = pdfs.length === 0 ? undefined : await spaceOf(daemon.client, 'filings', pdfs)
        figures.push(...(await reports(daemon.client, kind, notes, small, large)))
        if (large !== undefined && kind === 'rules') figures.push(...(await pages(daemon.client, large)))
      } finally {
        await daemon.stop()
      }
    }
    return figures
  } finally {
    await model.close()
    home.remove()
  }
}

/**
 * Plans another question than it was asked; answers with the line of the passages that has most words of the question,
 * and adds a sentence that no passage says. It declines where the best line has a single word, as a name is.
 */
function sayWhatIsThereAndMore(messages: { content: string }[]): string {
  const asked = messages.at(-1)?.content ?? ''
  if (messages[0]?.content.startsWith('Break a research') === true) return '["What is the weather in Oslo?"]'
  const { sources, question } = readPrompt(asked)
  const words = question.toLowerCase().match(/\p{L}{3,}/gu) ?? []
  const lines = sources.flatMap(({ number, text }) =>
    text.split('\n').map((line) => ({
      line,
      number,
      held: words.filter((word) => line.toLowerCase().includes(word.slice(0, 5))).length,
    })),
  )
  const [best] = lines.sort((a, b) => b.held - a.held)
  if (best === undefined || best.held < 2) return 'The sources do not answer the question.'
  return `${best.line.slice(0, 300).trim()} [${best.number}]\n\nThe mayor of Zubrowka paid 98765 crowns for it. [${best.number}]`
}

interface Space {
  id: string
  /** file names by document id */
  files: Map<string, string>
}

export async function spaceOf(
  client: Client,
  slug: string,
  files: { filename: string; bytes: Buffer }[],
): Promise<Space> {
  const { id } = await client.request('POST /knowledge-spaces', { body: { name: slug, slug } })
  const parts = files.map(({ filename, bytes }) => ({
    filename,
    mimeType: filename.endsWith('.pdf') ? 'application/pdf' : 'text/markdown',
    content: { bytes },
  }))
  const path = { id }
  const { items } = await client.upload('POST /knowledge-spaces/{id}/documents/bulk', {
    path,
    field: 'files',
    files: parts,
  })
  await waitUntilIdle(client)
  await untilIndexed(client, id)
  return { id, files: new Map(items.map(({ asset }) => [asset.id, asset.filename])) }
}

/** Waits for the page index of a space, without which mode `research` looks as `fast` does. */
export async function untilIndexed(client: Client, id: string): Promise<void> {
  for (;;) {
    const { metadata } = await ask(client, id, 'What is this?', 'research')
    if (metadata['degraded'] !== true) return
    await sleep(POLL_MS)
  }
}

async function reports(
  client: Client,
  kind: string,
  notes: Notes,
  small: Space,
  large: Space | undefined,
): Promise<Figure[]> {
  const sets = { tune: new Tally(), report: new Tally() }
  for (const question of notes.questions) await check(client, small, question, sets[question.set])
  if (large !== undefined)
    for (const question of notes.filings) await check(client, large, question, sets[question.set])
  return Object.entries(sets).flatMap(([set, tally]) => tally.figures(`${kind}, ${set}`, kind === 'rules'))
}

/** Shares of what was counted. */
class Tally {
  readonly #counts = new Map<string, [hits: number, all: number]>()

  add(name: string, hit: boolean, told: string): void {
    const [hits, all] = this.#counts.get(name) ?? [0, 0]
    this.#counts.set(name, [hits + (hit ? 1 : 0), all + 1])
    if (!hit && process.env['KS_BENCH_MISSES'] !== undefined) process.stdout.write(`  ${name}: ${told}\n`)
  }

  figures(prefix: string, withAnswers: boolean): Figure[] {
    return [...this.#counts]
      .filter(([name]) => withAnswers || name !== 'value told')
      .map(([name, [hits, all]]) => ({
        name: `${prefix}: ${name}`,
        value: hits / Math.max(1, all),
        unit: '',
        note: `${all}`,
        ...(name === 'value told' ? {} : { bar: { atLeast: name === 'statement supported' ? 1 : 0.9 } }),
      }))
  }
}

async function check(client: Client, space: Space, question: Question, tally: Tally): Promise<void> {
  const { report, items } = await taskOf(client, space.id, question.query)
  const texts = new Map(items.map((item) => [item.nodeId, item]))
  const [head = ''] = report.text.split('\n## ')
  for (const wanted of question.parts) {
    const told = `${question.query} → ${wanted.of} ${wanted.asks.join(' ')}`
    const section = report.sections.find(({ question: part }) => holdsAll(part, [wanted.of, ...wanted.asks]))
    tally.add(
      'name keeps its part',
      section !== undefined,
      `${told} (${report.sections.map((one) => one.question).join(' | ')})`,
    )
    if (section === undefined) continue
    const sources = section.cited.flatMap((number) => report.sources.find((source) => source.number === number) ?? [])
    const cited = sources.map(({ citation }) => space.files.get(citation.documentAssetId) ?? '')
    const isOwn = cited.every((file) => wanted.files.includes(file))
    tally.add('only its own documents', isOwn, `${told}: ${cited.join(', ')}`)
    const passages = sources.flatMap(({ nodeId }) => texts.get(nodeId) ?? [])
    for (const statement of statementsOf(section.answer, section.cited.length))
      tally.add('statement supported', stands(statement, passages), `${told}: ${statement}`)
    if (wanted.absent === true) {
      const isSaid = section.state !== 'answerable' && head.includes(section.question.trim())
      tally.add('what is missing is said', isSaid, `${told}: ${section.state} ${section.answer}`)
    }
    if (wanted.holds !== undefined)
      tally.add(
        'value told',
        section.answer.includes(wanted.holds),
        `${told}: ${section.state} ${section.answer.slice(0, 200)}`,
      )
  }
}

function holdsAll(text: string, words: readonly string[]): boolean {
  const told = text.toLowerCase()
  return words.every((word) => told.includes(word.toLowerCase().slice(0, 5)))
}

/** The statements of an answer that cites something. */
function statementsOf(answer: string, cited: number): string[] {
  if (cited === 0) return []
  return answer.split(/\[\d+\][.!?]?\s*/).filter((statement) => /\p{L}/u.test(statement))
}

/** Whether the numbers and the capitalised words within a statement stand in one of the passages or their titles. */
function stands(statement: string, passages: readonly EvidenceItem[]): boolean {
  const wanted = [
    ...(statement.match(/\d[\d,.]*\d|\d/g) ?? []),
    ...[...statement.matchAll(/(?<=[\p{L},] )\p{Lu}\p{Ll}{3,}/gu)].map(([word]) => word),
  ]
  const told = passages.map(({ text, metadata }) => `${text} ${JSON.stringify(metadata)}`).join('\n')
  return wanted.every((word) => told.includes(word))
}

async function taskOf(
  client: Client,
  knowledgeSpaceId: string,
  query: string,
): Promise<{ report: ResearchReport; items: EvidenceItem[] }> {
  const { id } = await client.request('POST /research-tasks', { body: { knowledgeSpaceId, query, mode: 'research' } })
  const path = { id }
  for (;;) {
    const { stage, error } = await client.request('GET /research-tasks/{id}', { path })
    if (stage === 'completed') break
    if (stage === 'failed' || stage === 'canceled') throw new Error(`the task ${stage}: ${error}`)
    await sleep(POLL_MS)
  }
  const report = await client.request('GET /research-tasks/{id}/report', { path })
  const items: EvidenceItem[] = []
  let cursor: string | undefined
  do {
    const query = { limit: 20, ...(cursor === undefined ? {} : { cursor }) }
    const page = await client.request('GET /research-tasks/{id}/partials', { path, query })
    items.push(...page.items.flatMap(({ evidenceBundle }) => evidenceBundle.items))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return { report, items }
}

/** Pages of the filings: people's questions, and ours, written from other pages. */
async function pages(client: Client, space: Space): Promise<Figure[]> {
  const lines = readFileSync(join(DATA, 'filings.jsonl'), 'utf8').trim().split('\n')
  const found = { tune: [0, 0, 0], report: [0, 0, 0] }
  for (const line of lines) {
    const { set, file, pages: right, question }: PageQuestion = JSON.parse(line)
    const { bundle } = await ask(client, space.id, question, 'research')
    const isHit = bundle?.items.some(({ citations: [cited] }) =>
      cited === undefined
        ? false
        : space.files.get(cited.documentAssetId) === file && right.includes(cited.pageNumber ?? 0),
    )
    const counts = found[set]
    counts[0] += 1
    counts[1] += isHit === true ? 1 : 0
    counts[2] += bundle?.state === 'not-enough-evidence' ? 1 : 0
  }
  return Object.entries(found).flatMap(([set, [all = 0, hits = 0, refused = 0]]): Figure[] => [
    { name: `filings, ${set}: page recall@10`, value: hits / all, unit: '', note: `${all}`, bar: { atLeast: 0.84 } },
    { name: `filings, ${set}: refused`, value: refused / all, unit: '', bar: { atMost: 0.05 } },
  ])
}
