import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Client } from '../../src/client/client.js'
import type { QueryBody } from '../../src/contract/gateway/queries.js'
import { DEFAULT_LIMITS } from '../../src/engine/parse/limits.js'
import { compileBytes } from '../../src/engine/parse/read-document.js'
import { ask } from './ask.js'
import { ROOT, startDaemon, temporaryFolder } from './daemon.js'
import type { Figure } from './report.js'
import { untilSettled } from './settled.js'
import { untilPublished, uploadOne } from './upload.js'

const SET = 'financebench-sample'
const MODES = ['fast', 'deep'] as const
const HALVES = ['tune', 'report'] as const
/** Passages that a search gives at most. */
const FOUND = 50
const PLACES = 10

interface Question {
  _id: string
  text: string
  file: string
}

/** A question whose answer is read off or computed from a row, with figures of that row. */
interface Wanted {
  question: Question
  row: string[]
  half: (typeof HALVES)[number]
}

/** How far a row comes on its way from the file into the evidence. */
interface Funnel {
  /** one passage holds it, as the document was cut */
  cut: boolean
  /** among the passages that a search gives, and among its first ten */
  found: boolean
  first: boolean
  /** in the evidence of a query */
  evidence: boolean
}

/**
 * FinanceBench questions whose answer stands in a table, asked of a daemon that holds the seven filings in one space: in
 * how many does one passage of the evidence hold the row that the answer is computed from. It has to be a passage of the
 * question's own file, with all the row's figures, whole and as the report prints them, in one line.
 * Documents are halved by a hash of their file's name: rules are tuned with one half.
 */
export async function tableQuestions(data: string, verbose: boolean): Promise<Figure[]> {
  const folder = join(data, SET)
  const questions = lines<Question>(join(folder, 'questions.jsonl'))
  const wanted = lines<{ question: string; row: string[] }>(join(ROOT, 'bench', 'tables', 'questions.jsonl')).flatMap(
    ({ question: id, row }): Wanted[] => {
      const question = questions.find(({ _id }) => _id === id)
      return question === undefined ? [] : [{ question, row, half: halfOf(question.file) }]
    },
  )
  const files = [...new Set(questions.map(({ file }) => file))]
  const cut = await cutPassages(folder, files)
  const home = temporaryFolder('bench-tables')
  const daemon = await startDaemon(join(home.path, 'data'))
  try {
    const { client } = daemon
    const { id } = await client.request('POST /knowledge-spaces', { body: { name: SET, slug: SET } })
    for (const file of files) {
      const bytes = readFileSync(join(folder, file))
      const documentId = await uploadOne(client, id, { filename: basename(file), mimeType: 'application/pdf', bytes })
      await untilPublished(client, id, documentId)
    }
    await untilSettled(client)
    const figures: Figure[] = []
    for (const mode of MODES) {
      const funnels: (Funnel & Pick<Wanted, 'half'>)[] = []
      for (const one of wanted) {
        const funnel = await funnelOf(client, id, one, mode, cut.get(one.question.file) ?? [])
        funnels.push({ ...funnel, half: one.half })
        if (verbose && one.half === 'tune' && !funnel.evidence)
          process.stdout.write(`${mode} lacks ${one.row.join(', ')}: ${one.question.text} ${JSON.stringify(funnel)}\n`)
      }
      figures.push(...figuresOf(mode, funnels))
    }
    return figures
  } finally {
    await daemon.stop()
    home.remove()
  }
}

function figuresOf(mode: (typeof MODES)[number], all: readonly (Funnel & Pick<Wanted, 'half'>)[]): Figure[] {
  const figureOf = (name: string, some: readonly Funnel[]): Figure => {
    const count = (stage: keyof Funnel) => some.filter((one) => one[stage]).length
    const way = `cut ${count('cut')}, among ${FOUND} found ${count('found')}, among ${PLACES} ${count('first')}, evidence ${count('evidence')}`
    return {
      name,
      value: count('evidence') / Math.max(1, some.length),
      unit: '',
      note: `${some.length} questions: ${way}`,
    }
  }
  const bar = mode === 'fast' ? { bar: { atLeast: 0.6 } } : {}
  const whole = { ...figureOf(`${mode} the row in the evidence`, all), ...bar }
  return [
    whole,
    ...HALVES.map((half) =>
      figureOf(
        `… ${mode}, ${half}`,
        all.filter((one) => one.half === half),
      ),
    ),
  ]
}

async function funnelOf(
  client: Client,
  id: string,
  { question, row }: Wanted,
  mode: Exclude<QueryBody['mode'], 'auto' | undefined>,
  passages: readonly string[],
): Promise<Funnel> {
  const file = basename(question.file)
  const holds = (item: { text: string; metadata: Record<string, unknown> }): boolean =>
    item.metadata.filename === file && holdsRow(item.text, row)
  const searched = await client.request('POST /knowledge-spaces/{id}/queries/search', {
    path: { id },
    body: { query: question.text, mode, limit: FOUND },
  })
  const { bundle } = await ask(client, id, question.text, mode)
  return {
    cut: passages.some((text) => holdsRow(text, row)),
    found: searched.items.some(holds),
    first: searched.items.slice(0, PLACES).some(holds),
    evidence: (bundle?.items ?? []).some(holds),
  }
}

/** Whether one line holds all figures of a row, each whole. Words are not asked for: some totals have no label in print. */
function holdsRow(text: string, row: readonly string[]): boolean {
  return text.split('\n').some((line) => {
    const cells = new Set(line.split(/[\s|$€£]+/))
    return row.every((figure) => cells.has(figure))
  })
}

/** Passages of each file, as a daemon cuts them. */
async function cutPassages(folder: string, files: readonly string[]): Promise<Map<string, string[]>> {
  const passages = new Map<string, string[]>()
  for (const file of files) {
    const bytes = readFileSync(join(folder, file))
    const { nodes } = await compileBytes(bytes, { filename: basename(file) }, DEFAULT_LIMITS)
    passages.set(
      file,
      nodes.map(({ text }) => text),
    )
  }
  return passages
}

function halfOf(file: string): Wanted['half'] {
  const [byte = 0] = createHash('sha256').update(basename(file)).digest()
  return byte % 2 === 1 ? 'tune' : 'report'
}

function lines<T>(path: string): T[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
}
