/** The effect of other thresholds of the gate: the tables of `docs/retrieval.md`. */

export interface JudgedQuestion {
  /** confidence in the best passage, 0 to 1 */
  top: number
  /** probability that the quotation contains the answer, 0 to 1; 0 if no passage mentions a name of the question */
  probability: number
  contradicts: boolean
}

/** Questions to one space. */
export interface JudgedSet {
  /** documents of the space answer them */
  isOwn: boolean
  questions: readonly JudgedQuestion[]
}

const REFUSE_STEPS = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3]
const ANSWER_STEPS = [0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9]

export const isRefused = ({ top }: JudgedQuestion, refusalThreshold: number): boolean => top < refusalThreshold
export const isAnswered = (one: JudgedQuestion, refusalThreshold: number, answerThreshold: number): boolean =>
  !isRefused(one, refusalThreshold) && (one.contradicts || one.probability >= answerThreshold)

/** Formats two Markdown tables: one for the threshold of refusing, one for that of answering. */
export function formatCurve(
  sets: readonly JudgedSet[],
  { refuse, answer }: { refuse: number; answer: number },
): string[] {
  const questionedSets = sets.filter(({ questions }) => questions.length > 0)
  const own = questionedSets.filter(({ isOwn }) => isOwn)
  const foreign = questionedSets.filter(({ isOwn }) => !isOwn)
  const computeFractions = (of: readonly JudgedSet[], isCounted: (one: JudgedQuestion) => boolean): number[] =>
    of.map(({ questions }) => questions.filter(isCounted).length / questions.length)
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length
  const formatMeanAndMax = (values: readonly number[]): string =>
    `${formatPercent(mean(values))} (${formatPercent(Math.max(...values))})`
  const formatMeanAndMin = (values: readonly number[]): string =>
    `${formatPercent(mean(values))} (${formatPercent(Math.min(...values))})`
  const formatStep = (step: number, chosen: number): string => (step === chosen ? `**${step}**` : `${step}`)
  return [
    '| refused below | own refused, mean (worst set) | foreign refused, mean (worst pair) |',
    '|---|---|---|',
    ...REFUSE_STEPS.map((threshold) => {
      const refused = (of: readonly JudgedSet[]) => computeFractions(of, (one) => isRefused(one, threshold))
      return `| ${formatStep(threshold, refuse)} | ${formatMeanAndMax(refused(own))} | ${formatMeanAndMin(refused(foreign))} |`
    }),
    '',
    '| answerable from | own answered, mean (worst set) | foreign answered, mean (worst pair) |',
    '|---|---|---|',
    ...ANSWER_STEPS.map((threshold) => {
      const answered = (of: readonly JudgedSet[]) => computeFractions(of, (one) => isAnswered(one, refuse, threshold))
      return `| ${formatStep(threshold, answer)} | ${formatMeanAndMin(answered(own))} | ${formatMeanAndMax(answered(foreign))} |`
    }),
  ]
}

function formatPercent(fraction: number): string {
  return `${(100 * fraction).toFixed(fraction > 0 && fraction < 0.1 ? 1 : 0)} %`
}
