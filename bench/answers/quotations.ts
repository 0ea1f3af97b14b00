/**
 * Quotations by two logistic models: one ranks the units of the best passages, the other gives the probability that a
 * quotation contains the answer. Both are fitted on all sets but one and judged on that one.
 */
import type { Candidate } from './candidates.js'
import { type Case, folderCases, publicCases, quotedText } from './cases.js'
import { quotationFeatures, scoreCandidates, selectUnits } from './choose.js'
import { type Example, fitLogistic, type LinearModel, probabilityOf } from './logistic.js'
import { answerValues, unitValues } from './model.js'
import { ownSets, sharedSets } from './questions.js'
import type { Verdict } from './verdicts.js'

interface QuotationModel {
  /** ranks units */
  units: LinearModel
  /** gives the probability that a quotation contains the answer */
  answer: LinearModel
}

interface Quotation {
  units: Candidate[]
  values: number[]
}

const UNIT_PENALTY = 10
const ANSWER_PENALTY = 30
/** From this probability on a quotation counts as sure. */
const SURE_FROM = 0.7

function fitUnits(cases: readonly Case[]): LinearModel {
  const examples = cases
    .filter(({ isAnswered }) => isAnswered)
    .flatMap((one) =>
      one.candidates.map((candidate): Example => {
        return { values: unitValues(candidate), label: one.isRight([candidate]) ? 1 : 0, weight: one.weight }
      }),
    )
  return fitLogistic(examples, UNIT_PENALTY)
}

function quote(model: LinearModel, { question, passages, candidates }: Case): Quotation | undefined {
  const scored = scoreCandidates(model, candidates)
  const units = selectUnits(scored)
  const features = quotationFeatures(question, passages, scored, units)
  return features && { units, values: answerValues(features) }
}

/** Fits the second model on quotations from sets that the first was not fitted on. */
function fitBoth(cases: readonly Case[]): QuotationModel {
  const sets = [...new Set(cases.map(({ set }) => set))]
  const examples = sets.flatMap((left) => {
    const others = fitUnits(cases.filter(({ set }) => set !== left))
    return cases
      .filter(({ set }) => set === left)
      .flatMap((one): Example[] => {
        const quotation = quote(others, one)
        if (quotation === undefined) return []
        return [{ values: quotation.values, label: one.isRight(quotation.units) ? 1 : 0, weight: one.weight }]
      })
  })
  return { units: fitUnits(cases), answer: fitLogistic(examples, ANSWER_PENALTY) }
}

/** Verdicts on the quotations for each folder, by models that were fitted on the others. */
export async function quotationVerdicts(): Promise<Map<string, Verdict[]>> {
  const own = await folderCases(ownSets())
  const shared = await folderCases(sharedSets())
  const open = publicCases()
  const verdicts = new Map<string, Verdict[]>()
  for (const set of new Set([...own, ...shared].map((one) => one.set))) {
    const model = fitBoth([...own.filter((one) => one.set !== set), ...open])
    const judged = [...own, ...shared].filter((one) => one.set === set)
    verdicts.set(
      set,
      judged.map((one) => verdictOf(model, one)),
    )
  }
  return verdicts
}

function verdictOf({ units, answer }: QuotationModel, one: Case): Verdict {
  const quotation = quote(units, one)
  const { isAnswered } = one
  if (quotation === undefined) return { isAnswered, isRight: false, isSure: false, isRefused: true, length: 0 }
  return {
    isAnswered,
    isRight: one.isRight(quotation.units),
    isSure: probabilityOf(answer, quotation.values) >= SURE_FROM,
    isRefused: false,
    length: quotedText(quotation.units).trim().length,
  }
}
