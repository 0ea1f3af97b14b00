/**
 * Fits the weights of `src/engine/query/extractive/choose.ts` anew: of each question of the tuning halves of SQuAD2 and
 * CMRC, the likelihood (softmax over the candidate sentences) that one with the gold answer is chosen, by gradient ascent
 * (Adam) with a little shrinking. Run with `node scripts/bench.js meaning/fit-answers`; it prints fitted and used weights.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { candidatesOf, prepare, readSigns } from '../../src/engine/query/extractive/candidates.js'
import { typedAs, WEIGHTS, type Weighed } from '../../src/engine/query/extractive/choose.js'
import { dataFolder, loadDataset } from '../lib/datasets.js'
import { MemorySpace } from '../lib/memory-space.js'
import { type AnswerSet, goldOf, holdsGold, isForTuning } from './answer-sets.js'

const SETS: readonly AnswerSet[] = ['squad2-dev', 'cmrc2018-dev-zh']
const PASSAGES = 6
const ITERATIONS = 600
const STEP = 0.05
const SHRINK = 0.002
/** Set by hand: neither set asks for conclusions or has lists. */
const BY_HAND: readonly string[] = ['concludes', 'lists']
const NAMES = Object.keys(WEIGHTS).filter((name): name is Weighed => !BY_HAND.includes(name))

interface Example {
  /** of each candidate, its signs in the order of `NAMES` */
  rows: number[][]
  /** whether it holds the gold answer */
  right: boolean[]
}

function examplesOf(folder: string, name: AnswerSet): Example[] {
  const { documents, queries, judged } = loadDataset(folder, name)
  const gold = goldOf(readFileSync(join(folder, name, 'answers.jsonl'), 'utf8'))
  const space = new MemorySpace(documents, true)
  return queries
    .filter(({ id }) => isForTuning(id))
    .map(({ id, text }): Example => {
      const question = prepare(text, space.idf)
      const nodes = space
        .ask(text)
        .ranked.slice(0, PASSAGES)
        .map(({ key }) => space.nodes[key]!)
      const candidates = nodes.flatMap(({ title, body }, place) => candidatesOf(question, { title, text: body }, place))
      const rows = candidates.map((candidate) => {
        const { typed, ...read } = readSigns(question, candidate)
        const signs = { ...candidate.signs, ...read, exact: 0, mentioned: 0, loose: 0, [typedAs(question)]: typed }
        return NAMES.map((sign) => signs[sign])
      })
      const holds = candidates.map((candidate) => holdsGold(candidate.text, gold.get(id) ?? []))
      // the gold string may stand in other passages by chance
      const inRight = candidates.map(
        ({ evidenceIndex }, at) => holds[at]! && judged.get(id)!.has(nodes[evidenceIndex]!.document.id),
      )
      return { rows, right: inRight.some(Boolean) ? inRight : holds }
    })
    .filter(({ right }) => right.some(Boolean))
}

function gradient(examples: readonly Example[], weights: readonly number[]): number[] {
  const sum = weights.map(() => 0)
  for (const { rows, right } of examples) {
    const logits = rows.map((row) => row.reduce((total, value, at) => total + value * weights[at]!, 0))
    const most = Math.max(...logits)
    const shares = logits.map((logit) => Math.exp(logit - most))
    const all = shares.reduce((total, value) => total + value, 0)
    const good = shares.reduce((total, value, at) => total + (right[at]! ? value : 0), 0)
    for (const [at, row] of rows.entries()) {
      const pull = (right[at]! ? shares[at]! / good : 0) - shares[at]! / all
      for (const [sign, value] of row.entries()) sum[sign]! += pull * value
    }
  }
  return sum.map((value, at) => value / examples.length - SHRINK * weights[at]!)
}

function fit(examples: readonly Example[]): number[] {
  const weights = NAMES.map(() => 0)
  const mean = NAMES.map(() => 0)
  const square = NAMES.map(() => 0)
  for (let turn = 1; turn <= ITERATIONS; turn++) {
    for (const [at, slope] of gradient(examples, weights).entries()) {
      mean[at] = 0.9 * mean[at]! + 0.1 * slope
      square[at] = 0.99 * square[at]! + 0.01 * slope * slope
      const step = mean[at]! / (1 - 0.9 ** turn) / (Math.sqrt(square[at]! / (1 - 0.99 ** turn)) + 1e-8)
      weights[at]! += STEP * step
    }
  }
  return weights
}

const folder = dataFolder()
if (folder === undefined) console.log('skipped: the shared data sets are not on this machine')
else {
  const fitted = fit(SETS.flatMap((name) => examplesOf(folder, name)))
  for (const [at, name] of NAMES.entries())
    console.log(`${name.padEnd(10)} fitted ${fitted[at]!.toFixed(2).padStart(6)}  used ${WEIGHTS[name]}`)
}
