import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nearestCluster } from '../../src/engine/quality/assign-cluster.js'
import { type Meaning, meaningOf } from '../../src/engine/quality/meaning.js'
import { ROOT } from '../lib/daemon.js'
import type { Figure } from '../lib/report.js'

interface Group {
  half: 'tune' | 'report'
  topic: string
  /** phrasings of one question, or a single one that is only there to be kept apart */
  questions: string[]
}

/** Which questions become one cluster, as they come in: a first phrasing of every question, then a second of every one. */
export async function run(): Promise<Figure[]> {
  const lines = readFileSync(join(ROOT, 'bench', 'meaning', 'data', 'clusters.jsonl'), 'utf8')
    .trim()
    .split('\n')
  const groups = lines.map((line): Group => JSON.parse(line))
  return (['tune', 'report'] as const).flatMap((half) =>
    figuresOf(
      half,
      groups.filter((group) => group.half === half),
    ),
  )
}

function figuresOf(half: string, groups: readonly Group[]): Figure[] {
  const keys = clustered(groups)
  const phrased = groups.filter(({ questions }) => questions.length > 1)
  const whole = phrased.filter(({ questions }) => new Set(questions.map((question) => keys.get(question))).size === 1)
  let pairs = 0
  let merged = 0
  for (const [at, one] of groups.entries())
    for (const other of groups.slice(at + 1).filter(({ topic }) => topic === one.topic))
      for (const question of one.questions)
        for (const another of other.questions) {
          pairs++
          if (keys.get(question) === keys.get(another)) merged++
        }
  return [
    {
      ...{ name: `${half}: all phrasings in one cluster`, value: whole.length / phrased.length, unit: '' },
      ...{ bar: { atLeast: 0.8 }, note: `${half} set, ${phrased.length} questions in four phrasings` },
    },
    {
      ...{ name: `${half}: different questions on one subject in one cluster`, value: merged / pairs, unit: '' },
      ...{ bar: { atMost: 0.05 }, note: `${half} set, ${pairs} pairs` },
    },
  ]
}

/** Keys of the clusters by question. */
function clustered(groups: readonly Group[]): Map<string, number> {
  const clusters = new Map<number, Meaning[]>()
  const keys = new Map<string, number>()
  const most = Math.max(...groups.map(({ questions }) => questions.length))
  for (let place = 0; place < most; place++)
    for (const { questions } of groups) {
      const question = questions[place]
      if (question === undefined) continue
      const meaning = meaningOf(question)
      const key = nearestCluster(meaning, clusters) ?? clusters.size
      clusters.set(key, [...(clusters.get(key) ?? []), meaning])
      keys.set(question, key)
    }
  return keys
}
