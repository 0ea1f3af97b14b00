/**
 * Quotations by two logistic models: one ranks the units of the best passages, the other gives the probability that a
 * quotation contains the answer. Both are fitted on all sets but one and judged on that one.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SURE_QUOTATION_THRESHOLD } from '../../src/engine/retrieval/query/answerability.js'
import { FEATURES, type QuotationCandidate } from '../../src/engine/retrieval/query/quotation/candidates.js'
import {
  ANSWER_FEATURES,
  computeProbability,
  computeQuotationFeatures,
  type LinearModel,
  scoreCandidates,
  selectUnits,
  toAnswerValues,
  toUnitValues,
} from '../../src/engine/retrieval/query/quotation/choose.js'
import { ROOT } from '../lib/daemon.js'
import { buildFolderCases, buildPublicCases, type Case, formatQuotation } from './cases.js'
import { type Example, fitLogistic } from './logistic.js'
import { loadOwnSets, loadSharedSets } from './questions.js'
import type { Verdict } from './verdicts.js'

interface QuotationModel {
  units: LinearModel
  answer: LinearModel
}

interface Quotation {
  units: QuotationCandidate[]
  values: number[]
}

const UNIT_PENALTY = 10
const ANSWER_PENALTY = 30

function fitUnits(cases: readonly Case[]): LinearModel {
  const examples = cases
    .filter(({ isAnswered }) => isAnswered)
    .flatMap((one) =>
      one.candidates.map((candidate): Example => {
        return { values: toUnitValues(candidate), label: one.isRight([candidate]) ? 1 : 0, weight: one.weight }
      }),
    )
  return fitLogistic(examples, UNIT_PENALTY)
}

function quote(model: LinearModel, { question, passages, candidates }: Case): Quotation | undefined {
  const scored = scoreCandidates(model, candidates)
  const units = selectUnits(scored)
  const features = computeQuotationFeatures(question, passages, scored, units)
  return features && { units, values: toAnswerValues(features) }
}

/** Fits the second model on quotations from sets that the first was not fitted on. */
function fitBoth(cases: readonly Case[]): QuotationModel {
  const sets = [...new Set(cases.map(({ set }) => set))]
  const examples = sets.flatMap((excludedSet) => {
    const otherUnits = fitUnits(cases.filter(({ set }) => set !== excludedSet))
    return cases
      .filter(({ set }) => set === excludedSet)
      .flatMap((one): Example[] => {
        const quotation = quote(otherUnits, one)
        if (quotation === undefined) return []
        return [{ values: quotation.values, label: one.isRight(quotation.units) ? 1 : 0, weight: one.weight }]
      })
  })
  return { units: fitUnits(cases), answer: fitLogistic(examples, ANSWER_PENALTY) }
}

const WEIGHTS = join(ROOT, 'src', 'engine', 'query', 'quotation', 'weights.ts')
const DIGITS = 4

/** Fits both models on all sets but the shared folder, and writes their weights into the sources. */
export async function writeWeights(): Promise<void> {
  const publicCases = buildPublicCases()
  if (publicCases.length === 0)
    throw new Error('the shared data sets are not on this machine: the weights are fitted on them')
  const { units, answer } = fitBoth([...(await buildFolderCases(loadOwnSets())), ...publicCases])
  const lines = [
    "import type { Feature } from './candidates.js'",
    "import type { NamedModel } from './linear-model.js'",
    "import type { AnswerFeature } from './model.js'",
    '',
    '// Written by `npm run bench:answers -- fit`; do not edit.',
    '',
    ...formatModel('UNIT_WEIGHTS', 'Feature', FEATURES, units),
    '',
    ...formatModel('ANSWER_WEIGHTS', 'AnswerFeature', ANSWER_FEATURES, answer),
    '',
  ]
  writeFileSync(WEIGHTS, lines.join('\n'))
}

function formatModel(
  name: string,
  type: string,
  features: readonly string[],
  { weights, bias }: LinearModel,
): string[] {
  const entries = features.map((feature, index) => `    ${feature}: ${round(weights[index]!)},`)
  return [
    `export const ${name}: NamedModel<${type}> = {`,
    `  bias: ${round(bias)},`,
    '  weights: {',
    ...entries,
    '  },',
    '}',
  ]
}

function round(value: number): number {
  return Number(value.toFixed(DIGITS))
}

/** Judges the quotations from each folder, with models that were fitted on the others. */
export async function judgeQuotations(): Promise<Map<string, Verdict[]>> {
  const own = await buildFolderCases(loadOwnSets())
  const shared = await buildFolderCases(loadSharedSets())
  const publicCases = buildPublicCases()
  const verdicts = new Map<string, Verdict[]>()
  for (const set of new Set([...own, ...shared].map((one) => one.set))) {
    const model = fitBoth([...own.filter((one) => one.set !== set), ...publicCases])
    const judged = [...own, ...shared].filter((one) => one.set === set)
    verdicts.set(
      set,
      judged.map((one) => judgeCase(model, one)),
    )
  }
  return verdicts
}

function judgeCase({ units, answer }: QuotationModel, one: Case): Verdict {
  const quotation = quote(units, one)
  const { isAnswered } = one
  if (quotation === undefined) return { isAnswered, isRight: false, isSure: false, isRefused: true, length: 0 }
  return {
    isAnswered,
    isRight: one.isRight(quotation.units),
    isSure: computeProbability(answer, quotation.values) >= SURE_QUOTATION_THRESHOLD,
    isRefused: false,
    length: formatQuotation(quotation.units).trim().length,
  }
}
