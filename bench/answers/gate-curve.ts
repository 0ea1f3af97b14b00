/** What other thresholds of the gate would give: the curve of `docs/retrieval.md`. */

/** A question as the gate sees it. */
export interface Judged {
  /** confidence that something found answers, 0 to 1 */
  top: number
  /** probability that the quotation contains the answer, 0 to 1; 0 if no passage mentions a name of the question */
  probability: number
  contradicts: boolean
}

/** Questions asked of one space. */
export interface JudgedSet {
  /** whether of their own documents */
  own: boolean
  questions: readonly Judged[]
}

const REFUSE_STEPS = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3]
const ANSWER_STEPS = [0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9]

export const isRefused = ({ top }: Judged, below: number): boolean => top < below
export const isAnswered = (one: Judged, below: number, from: number): boolean =>
  !isRefused(one, below) && (one.contradicts || one.probability >= from)

/** Lines of two Markdown tables: what the threshold of refusing gives, and what that of answering does. */
export function curveOf(sets: readonly JudgedSet[], { refuse, answer }: { refuse: number; answer: number }): string[] {
  const asked = sets.filter(({ questions }) => questions.length > 0)
  const shares = (own: boolean, holds: (one: Judged) => boolean): number[] =>
    asked.filter((set) => set.own === own).map(({ questions }) => questions.filter(holds).length / questions.length)
  const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length
  const cell = (values: readonly number[]): string => `${percent(mean(values))} (${percent(Math.max(...values))})`
  const least = (values: readonly number[]): string => `${percent(mean(values))} (${percent(Math.min(...values))})`
  const mark = (step: number, chosen: number): string => (step === chosen ? `**${step}**` : `${step}`)
  return [
    '| refused below | own refused, mean (worst set) | foreign refused, mean (worst pair) |',
    '|---|---|---|',
    ...REFUSE_STEPS.map((below) => {
      const refused = (own: boolean): number[] => shares(own, (one) => isRefused(one, below))
      return `| ${mark(below, refuse)} | ${cell(refused(true))} | ${least(refused(false))} |`
    }),
    '',
    '| answerable from | own answered, mean (worst set) | foreign answered, mean (worst pair) |',
    '|---|---|---|',
    ...ANSWER_STEPS.map((from) => {
      const answered = (own: boolean): number[] => shares(own, (one) => isAnswered(one, refuse, from))
      return `| ${mark(from, answer)} | ${least(answered(true))} | ${cell(answered(false))} |`
    }),
  ]
}

function percent(share: number): string {
  return `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`
}
