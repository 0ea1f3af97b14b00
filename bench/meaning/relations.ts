/**
 * Relations that the rules state, against sentences whose relations are known (`data/relations-*.jsonl`, one half tuned
 * on, one reported), and the share of a seeded sample of relations from real text that a reader called right.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalKey } from '../../src/engine/derived/graph/entities.js'
import { GraphReader } from '../../src/engine/derived/graph/extract.js'
import { ROOT } from '../lib/daemon.js'
import { dataFolder, loadDataset, type RetrievalSet } from '../lib/datasets.js'
import type { Figure } from '../lib/report.js'

export interface Sentence {
  kind: string
  text: string
  /** subject, predicate, object, by canonical key */
  says: [string, string, string][]
}

/** A relation that the rules stated of a real text, and whether a reader of the sentence called it right. */
interface Judged {
  set: string
  document: string
  subject: string
  predicate: string
  object: string
  right: boolean
}

const COST_ROUNDS = 5
const DATA = join(ROOT, 'bench', 'meaning', 'data')
const REAL: readonly RetrievalSet[] = ['squad2-dev', 'scifact', 'cranfield']

export function readJsonLines<T>(file: string): T[] {
  return readFileSync(join(DATA, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): T => JSON.parse(line))
}

/** What a text states, as `subject predicate object` by canonical key. */
export function statedIn(text: string, title = ''): string[][] {
  const reader = new GraphReader(title)
  reader.add({ key: 1, text, section: [] })
  return [...reader.finish().relations.values()].flatMap(({ subject, predicate, object }) =>
    predicate === '' ? [] : [[subject, predicate, object]],
  )
}

/** Whether two ends are the same: one may hold a word more at either side (`the carmaker Acme` and `Acme`). */
function isSame(one: string, other: string): boolean {
  return (
    one === other ||
    one.endsWith(` ${other}`) ||
    other.endsWith(` ${one}`) ||
    one.startsWith(`${other} `) ||
    other.startsWith(`${one} `)
  )
}

export function scoreSentences(
  sentences: readonly Sentence[],
  log?: (line: string) => void,
): { precision: number; recall: number } {
  let right = 0
  let stated = 0
  let wanted = 0
  for (const { kind, text, says } of sentences) {
    const found = statedIn(text)
    const left = [...says]
    for (const [subject = '', predicate, object = ''] of found) {
      const place = left.findIndex(([s, p, o]) => p === predicate && isSame(s, subject) && isSame(o, object))
      if (place >= 0) left.splice(place, 1)
      else log?.(`false  [${kind}] ${text} -> ${subject} | ${predicate} | ${object}`)
    }
    for (const one of left) log?.(`missed [${kind}] ${text} -> ${one.join(' | ')}`)
    right += says.length - left.length
    stated += found.length
    wanted += says.length
  }
  return { precision: stated === 0 ? 1 : right / stated, recall: right / wanted }
}

/** Milliseconds of a processor that reading a passage of real text takes. */
function costOf(folder: string): Figure[] {
  return REAL.map((name) => {
    const { documents } = loadDataset(folder, name)
    const texts = documents.slice(0, 1000)
    let value = Number.POSITIVE_INFINITY
    // the best of some, since other programs share the machine's caches
    for (let round = 0; round < COST_ROUNDS; round++) {
      const started = process.cpuUsage()
      for (const { title, text } of texts) {
        const reader = new GraphReader(title)
        reader.add({ key: 1, text, section: [] })
        reader.finish()
      }
      const { user, system } = process.cpuUsage(started)
      value = Math.min(value, (user + system) / 1000 / texts.length)
    }
    return { name: `reading a passage of ${name}`, value, unit: 'ms', bar: { atMost: 0.3 } }
  })
}

/** Share right of the judged relations that the rules of now still state. */
function stillStated(folder: string, judged: readonly Judged[]): Figure {
  const texts = new Map<string, string>(
    REAL.flatMap((name) => loadDataset(folder, name).documents.map(({ id, text }) => [`${name}/${id}`, text] as const)),
  )
  const stated = judged.filter(({ set, document, subject, predicate, object }) =>
    statedIn(texts.get(`${set}/${document}`) ?? '').some(
      ([s = '', p, o = '']) => p === predicate && isSame(s, canonicalKey(subject)) && isSame(o, canonicalKey(object)),
    ),
  )
  const value = stated.filter(({ right }) => right).length / Math.max(1, stated.length)
  return { name: 'precision of those still stated', value, unit: '', note: `${stated.length} of ${judged.length}` }
}

export function run(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const half of ['tune', 'report'] as const) {
    const sentences = readJsonLines<Sentence>(`relations-${half}.jsonl`)
    const log =
      process.env['KS_BENCH_DETAILS'] === undefined
        ? undefined
        : (line: string) => process.stdout.write(`${half} ${line}\n`)
    const { precision, recall } = scoreSentences(sentences, log)
    const note = `${sentences.length} sentences, ${half === 'tune' ? 'tuned on' : 'reported'}`
    figures.push({ name: `precision of sentences (${half})`, value: precision, unit: '', note })
    figures.push({
      name: `recall of sentences (${half})`,
      value: recall,
      unit: '',
      note,
      ...(half === 'report' ? { bar: { atLeast: 0.6 } } : {}),
    })
  }
  const judged = readJsonLines<Judged>('relations-judged.jsonl')
  figures.push({
    name: 'precision of real text, judged',
    value: judged.filter(({ right }) => right).length / judged.length,
    unit: '',
    bar: { atLeast: 0.8 },
    note: `${judged.length} sampled (seed 31337), read one by one`,
  })
  const folder = dataFolder()
  if (folder !== undefined) figures.push(stillStated(folder, judged), ...costOf(folder))
  return Promise.resolve(figures)
}
