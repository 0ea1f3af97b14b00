import { join } from 'node:path'
import { type ComparedItem, findItemConflicts, judgeEvidence } from '../../src/engine/retrieval/query/answerability.js'
import { findContradictions } from '../../src/engine/retrieval/query/conflicts/contradictions.js'
import type { RankedCandidate } from '../../src/engine/retrieval/query/rank.js'
import { analyzeQuery } from '../../src/lib/text/analyze.js'
import { ROOT } from '../lib/daemon.js'
import { findDataFolder, loadDataset, readJsonLines, type SourceDocument } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import type { Figure } from '../lib/report.js'
import { measureAlarms, measureSpace } from './space-conflicts.js'

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
const MAX_PASSAGES = 5
/** Own questions asked of each shared set; none should raise an alarm. */
const QUESTIONS_PER_SET = 300
/** Labels of the tuned sets whose wrong verdicts are printed. */
const PRINTED_LABELS = (process.env.SHOW ?? '').split(',')

function readPairs(name: string): Pair[] {
  return readJsonLines(join(DATA, name))
}

/** @param find returns the reason of a contradiction */
function measure(
  label: string,
  pairs: readonly Pair[],
  find: (pair: Pair) => string | undefined,
  { hasBar = false } = {},
): Figure[] {
  let [hits, misses, alarms] = [0, 0, 0]
  for (const pair of pairs) {
    const reason = find(pair)
    if (reason !== undefined && pair.conflict) hits++
    if (reason === undefined && pair.conflict) misses++
    if (reason !== undefined && !pair.conflict) alarms++
    if (PRINTED_LABELS.includes(label) && (reason !== undefined) !== pair.conflict)
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
      ...(hasBar && { bar: { atLeast: RECALL_BAR } }),
    },
    {
      name: `${label}: precision`,
      value: hits / Math.max(1, hits + alarms),
      unit: '',
      ...(hasBar && { bar: { atLeast: PRECISION_BAR } }),
    },
  ]
}

function judgePairAlone({ question, one, other }: Pair): string | undefined {
  const items = [one, other].map((text, index) => ({ title: '', text, document: String(index) }))
  return findContradictions(question, analyzeQuery(question), () => 2, items).conflicts[0]?.reason
}

/** Judges a pair in a space of these two documents, after the gate that refuses questions. */
function judgePairWithGate({ question, one, other }: Pair): string | undefined {
  const documents = [one, other].map((text, index) => ({ id: String(index), title: '', text }))
  const space = new MemorySpace(documents)
  const { terms, ranked } = space.ask(question)
  const verdict = judgeEvidence({ query: question, terms, idf: space.idf, items: toItems(space, ranked) })
  return verdict.state === 'conflict' ? verdict.conflicts[0]?.reason : undefined
}

/** Judges pairs in a space of all pairs, where the search has to find both documents. */
function createSpaceJudge(space: MemorySpace, pairs: readonly Pair[]): (pair: Pair) => string | undefined {
  return (pair) => {
    const own = new Set([`${pairs.indexOf(pair)} 0`, `${pairs.indexOf(pair)} 1`])
    const found = findConflicts(space, pair.question).find(({ ids }) => ids.every((id) => own.has(id)))
    return found?.reason
  }
}

function findConflicts(
  space: MemorySpace,
  question: string,
): { reason: string; ids: string[]; sentences: [string, string] }[] {
  const { terms, ranked } = space.ask(question)
  const items = toItems(space, ranked)
  const { conflicts } = findItemConflicts({ query: question, terms, idf: space.idf }, items)
  return conflicts.map(({ item, other, reason, sentences }) => ({
    reason,
    sentences,
    ids: [items[item]!.document, items[other]!.document],
  }))
}

function toItems(space: MemorySpace, ranked: readonly RankedCandidate[]): (ComparedItem & { document: string })[] {
  return ranked.slice(0, MAX_PASSAGES).map((node) => {
    const { title, body, document } = space.nodes[node.key]!
    const features = node.features && { features: node.features }
    return { title, text: body, document: document.id, score: node.final, ...features }
  })
}

function buildSpace(pairs: readonly Pair[]): MemorySpace {
  const documents = pairs.flatMap(({ one, other }, pairIndex): SourceDocument[] =>
    [one, other].map((text, index) => ({ id: `${pairIndex} ${index}`, title: '', text })),
  )
  return new MemorySpace(documents)
}

/** Measures alarms on texts that hardly contradict each other. */
function measureFalseAlarms(): Figure[] {
  const folder = findDataFolder()
  if (folder === undefined) return []
  return (['squad2-dev', 'scifact', 'cranfield'] as const).map((name) => {
    const { documents, queries } = loadDataset(folder, name, 'train')
    const space = new MemorySpace(documents)
    const stride = Math.max(1, Math.ceil(queries.length / QUESTIONS_PER_SET))
    const sampled = queries.filter((_, index) => index % stride === 0)
    let alarms = 0
    for (const { text } of sampled) {
      const found = findConflicts(space, text)
      if (found.length > 0) alarms++
      if (PRINTED_LABELS.includes('texts'))
        for (const { reason, sentences } of found)
          process.stdout.write(`${name}: ${text} | ${reason}\n   ${sentences.join('\n   ')}\n`)
    }
    return {
      name: `${name}: alarms per 100 own questions`,
      value: (100 * alarms) / sampled.length,
      unit: '',
      note: `n=${sampled.length}`,
    }
  })
}

export async function run(): Promise<Figure[]> {
  const pairs = readPairs('contradictions.jsonl')
  const tuned = pairs.filter((_, index) => index % 2 === 0)
  const reported = pairs.filter((_, index) => index % 2 === 1)
  return [
    ...measure('tuned prose', readPairs('contradictions-prose.jsonl'), judgePairAlone),
    ...measure('tuned half', tuned, judgePairAlone),
    ...measure('reported half', reported, judgePairAlone, { hasBar: true }),
    ...measure('unseen', readPairs('contradictions-unseen.jsonl'), judgePairAlone, { hasBar: true }),
    ...measure('unseen, behind the gate', readPairs('contradictions-unseen.jsonl'), judgePairWithGate),
    ...measure('all in one space', pairs, createSpaceJudge(buildSpace(pairs), pairs)),
    ...measureFalseAlarms(),
    ...measureSpace('whole space, tuned half', tuned),
    ...measureSpace('whole space, tuned prose', readPairs('contradictions-prose.jsonl')),
    ...measureSpace('whole space, reported half', reported),
    ...measureSpace('whole space, unseen', readPairs('contradictions-unseen.jsonl')),
    ...measureAlarms({ print: PRINTED_LABELS.includes('space') }),
  ]
}
