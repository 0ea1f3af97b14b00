import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ComparedItem, findItemConflicts, judgeEvidence } from '../../src/engine/retrieval/query/answerability.js'
import { findContradictions } from '../../src/engine/retrieval/query/conflicts/contradictions.js'
import type { RankedCandidate } from '../../src/engine/retrieval/query/rank.js'
import { analyzeQuery } from '../../src/lib/text/analyze.js'
import { ROOT } from '../lib/daemon.js'
import { dataFolder, loadDataset, type SourceDocument } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import type { Figure } from '../lib/report.js'
import { alarmFigures, spaceFigures } from './space-conflicts.js'

interface Pair {
  kind: string
  question: string
  one: string
  other: string
  conflict: boolean
}

const DATA = join(ROOT, 'bench', 'answers', 'data')
const RECALL_BAR = 0.75
const PRECISION_BAR = 0.85
const CONSIDERED = 5
/** Own questions asked of each shared set, over whose passages no alarm is expected. */
const QUESTIONS = 300
/** Labels of the sets whose wrong ones are printed, parted by commas: those that are tuned on. */
const SHOWN = (process.env.SHOW ?? '').split(',')

function readPairs(name: string): Pair[] {
  return readFileSync(join(DATA, name), 'utf8')
    .trim()
    .split('\n')
    .map((line): Pair => JSON.parse(line))
}

/** Recall and precision of the pairs; those that were judged wrongly are printed where asked for. */
function measure(
  label: string,
  pairs: readonly Pair[],
  finds: (pair: Pair) => string | undefined,
  barred: boolean,
): Figure[] {
  let [hits, misses, alarms] = [0, 0, 0]
  for (const pair of pairs) {
    const reason = finds(pair)
    if (reason !== undefined && pair.conflict) hits++
    if (reason === undefined && pair.conflict) misses++
    if (reason !== undefined && !pair.conflict) alarms++
    if (SHOWN.includes(label) && (reason !== undefined) !== pair.conflict)
      process.stdout.write(
        `${label} ${pair.conflict ? 'MISSED' : 'FALSE'} [${pair.kind}] ${pair.question} | ${pair.one} | ${pair.other} | ${reason ?? ''}\n`,
      )
  }
  const note = `${hits} of ${hits + misses} found, ${alarms} false of ${pairs.length - hits - misses}`
  return [
    {
      name: `${label}: recall`,
      value: hits / (hits + misses),
      unit: '',
      note,
      ...(barred && { bar: { atLeast: RECALL_BAR } }),
    },
    {
      name: `${label}: precision`,
      value: hits / Math.max(1, hits + alarms),
      unit: '',
      ...(barred && { bar: { atLeast: PRECISION_BAR } }),
    },
  ]
}

/** Of two documents alone. */
function alone({ question, one, other }: Pair): string | undefined {
  const items = [one, other].map((text, place) => ({ title: '', text, document: String(place) }))
  return findContradictions(question, analyzeQuery(question), () => 2, items).conflicts[0]?.reason
}

/** In a space of these two documents, with what refuses before anything is compared. */
function behindTheGate({ question, one, other }: Pair): string | undefined {
  const documents = [one, other].map((text, place) => ({ id: String(place), title: '', text }))
  const space = new MemorySpace(documents, true)
  const { terms, ranked } = space.ask(question)
  const verdict = judgeEvidence({ query: question, terms, idf: space.idf, items: itemsOf(space, ranked) })
  return verdict.state === 'conflict' ? verdict.conflicts[0]?.reason : undefined
}

/** In a space of all pairs: both must be found, too. */
function inSpace(space: MemorySpace, pairs: readonly Pair[]): (pair: Pair) => string | undefined {
  return (pair) => {
    const own = new Set([`${pairs.indexOf(pair)} 0`, `${pairs.indexOf(pair)} 1`])
    const found = ask(space, pair.question).find(({ ids }) => ids.every((id) => own.has(id)))
    return found?.reason
  }
}

function ask(space: MemorySpace, question: string): { reason: string; ids: string[]; says: [string, string] }[] {
  const { terms, ranked } = space.ask(question)
  const items = itemsOf(space, ranked)
  const { conflicts } = findItemConflicts({ query: question, terms, idf: space.idf }, items)
  return conflicts.map(({ item, other, reason, says }) => ({
    reason,
    says,
    ids: [items[item]!.document, items[other]!.document],
  }))
}

function itemsOf(space: MemorySpace, ranked: readonly RankedCandidate[]): (ComparedItem & { document: string })[] {
  return ranked.slice(0, CONSIDERED).map((node) => {
    const { title, body, document } = space.nodes[node.key]!
    const features = node.features && { features: node.features }
    return { title, text: body, document: document.id, score: node.final, ...features }
  })
}

function spaceOf(pairs: readonly Pair[]): MemorySpace {
  const documents = pairs.flatMap(({ one, other }, at): SourceDocument[] =>
    [one, other].map((text, place) => ({ id: `${at} ${place}`, title: '', text })),
  )
  return new MemorySpace(documents, true)
}

/** Alarms per hundred own questions over texts that hardly contradict each other. */
function overTexts(): Figure[] {
  const folder = dataFolder()
  if (folder === undefined) return []
  return (['squad2-dev', 'scifact', 'cranfield'] as const).map((name) => {
    const { documents, queries } = loadDataset(folder, name, 'train')
    const space = new MemorySpace(documents, true)
    const stride = Math.max(1, Math.ceil(queries.length / QUESTIONS))
    const asked = queries.filter((_, place) => place % stride === 0)
    let alarms = 0
    for (const { text } of asked) {
      const found = ask(space, text)
      if (found.length > 0) alarms++
      if (SHOWN.includes('texts'))
        for (const { reason, says } of found)
          process.stdout.write(`${name}: ${text} | ${reason}\n   ${says.join('\n   ')}\n`)
    }
    return {
      name: `${name}: alarms per 100 own questions`,
      value: (100 * alarms) / asked.length,
      unit: '',
      note: `n=${asked.length}`,
    }
  })
}

export async function run(): Promise<Figure[]> {
  const pairs = readPairs('contradictions.jsonl')
  const tuned = pairs.filter((_, place) => place % 2 === 0)
  const reported = pairs.filter((_, place) => place % 2 === 1)
  return [
    ...measure('tuned prose', readPairs('contradictions-prose.jsonl'), alone, false),
    ...measure('tuned half', tuned, alone, false),
    ...measure('reported half', reported, alone, true),
    ...measure('unseen', readPairs('contradictions-unseen.jsonl'), alone, true),
    ...measure('unseen, behind the gate', readPairs('contradictions-unseen.jsonl'), behindTheGate, false),
    ...measure('all in one space', pairs, inSpace(spaceOf(pairs), pairs), false),
    ...overTexts(),
    ...spaceFigures('whole space, tuned half', tuned),
    ...spaceFigures('whole space, tuned prose', readPairs('contradictions-prose.jsonl')),
    ...spaceFigures('whole space, reported half', reported),
    ...spaceFigures('whole space, unseen', readPairs('contradictions-unseen.jsonl')),
    ...alarmFigures(SHOWN.includes('space')),
  ]
}
