import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FailedQueryVerdict } from '../../src/contract/gateway/failed-queries.js'
import { ROOT } from '../lib/daemon.js'
import { dataFolder, loadDataset, type RetrievalSet } from '../lib/datasets.js'
import type { UploadFile } from '../lib/upload.js'

export type Half = 'tune' | 'report'

/** A question that fails, and why. */
export interface TriageQuestion {
  kind: string
  verdict: FailedQueryVerdict
  question: string
}

/** A space and the questions that are asked of it. */
export interface TriageSpace {
  name: string
  half: Half
  files: UploadFile[]
  questions: TriageQuestion[]
}

const DATA = join(ROOT, 'bench', 'meaning', 'data')
/** Questions of each kind that are taken from a public set. */
const OF_A_SET = 40
/** Articles of SQuAD 2.0 whose passages make the space that is reported on; the others make the one to tune with. */
const REPORTED = new Set([
  'Immune system',
  'Scottish Parliament',
  'European Union law',
  'Force',
  '1973 oil crisis',
  'Yuan dynasty',
  'French and Indian War',
  'Rhine',
  'Oxygen',
  'Southern California',
  'Prime number',
  'Pharmacy',
  'Black Death',
  'Geology',
  'Private school',
  'Amazon rainforest',
  'Sky (United Kingdom)',
  'Victoria (Australia)',
])

/** Spaces of hand-written pages and questions, and of articles with questions by hand and of the set. */
export function triageSpaces(): TriageSpace[] {
  const folder = dataFolder()
  const halves = ['tune', 'report'] as const
  return [
    ...halves.map((half) => ownSpace(half)),
    ...(folder === undefined ? [] : halves.map((half) => articles(folder, half))),
    ...(folder === undefined ? [] : [abstracts(folder, 'cranfield', 'tune', 'scifact')]),
    ...(folder === undefined ? [] : [abstracts(folder, 'scifact', 'report', 'cranfield')]),
  ]
}

function ownSpace(half: Half): TriageSpace {
  const pages: Record<Half, Record<string, string>> = JSON.parse(readFileSync(join(DATA, 'triage-own.json'), 'utf8'))
  const files = Object.entries(pages[half]).map(([filename, text]) => ({ filename, text }))
  return { name: 'own pages', half, files, questions: byHand('triage-own', half) }
}

function byHand(name: string, half: Half): TriageQuestion[] {
  const lines = readFileSync(join(DATA, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line): TriageQuestion & { half: Half } => JSON.parse(line)).filter((one) => one.half === half)
}

/** Half of the articles of SQuAD 2.0; questions of the other half's articles have their answer elsewhere. */
function articles(folder: string, half: Half): TriageSpace {
  const set = loadDataset(folder, 'squad2-dev')
  const mine = (title: string) => REPORTED.has(title) === (half === 'report')
  const titles = new Map(set.documents.map(({ id, title }) => [id, title]))
  const foreign = set.queries.filter(({ id }) => !mine(titles.get(answerOf(set.judged.get(id))) ?? ''))
  return {
    name: 'articles',
    half,
    files: set.documents.filter(({ title }) => mine(title)).map(fileOf),
    questions: [
      ...byHand('triage-squad', half),
      ...foreign.slice(0, OF_A_SET).map(({ text }) => question('other articles', 'irrelevant', text)),
    ],
  }
}

/** A set of abstracts, asked its own questions as they stand and another set's. */
function abstracts(folder: string, name: RetrievalSet, half: Half, other: RetrievalSet): TriageSpace {
  const set = loadDataset(folder, name)
  return {
    name,
    half,
    files: set.documents.filter(({ text }) => text !== '').map(fileOf),
    questions: [
      ...set.queries.slice(0, OF_A_SET).map(({ text }) => question('own questions', 'retrieval-miss', text)),
      ...loadDataset(folder, other)
        .queries.slice(0, OF_A_SET)
        .map(({ text }) => question(`questions of ${other}`, 'irrelevant', text)),
    ],
  }
}

function answerOf(grades: ReadonlyMap<string, number> | undefined): string {
  return [...(grades?.keys() ?? [])][0] ?? ''
}

function fileOf({ id, title, text }: { id: string; title: string; text: string }): UploadFile {
  return { filename: `${id}.md`, text: `# ${title}\n\n${text}\n` }
}

function question(kind: string, verdict: FailedQueryVerdict, text: string): TriageQuestion {
  return { kind, verdict, question: text }
}
