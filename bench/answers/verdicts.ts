import { type Figure, percentile } from '../lib/report.js'

/** The result of one question. */
export interface Verdict {
  /** whether any document answers it */
  isAnswered: boolean
  isRight: boolean
  /** presented as the answer, not as the closest passages */
  isSure: boolean
  /** nothing was presented */
  isRefused: boolean
  /** characters of the text */
  length: number
}

/** The bars for a set of questions, as shares. */
export interface AnswerBars {
  right: number
  rightAndSure: number
  wrongAndSure: number
  wronglyRefused: number
  medianLength: number
}

/** Sums up the verdicts on a set of questions. @param bars absent for a set without bars */
export function answerFigures(name: string, verdicts: readonly Verdict[], bars?: AnswerBars): Figure[] {
  const answered = verdicts.filter(({ isAnswered }) => isAnswered)
  const unanswered = verdicts.filter(({ isAnswered }) => !isAnswered)
  const share = (isCounted: (one: Verdict) => boolean): number =>
    answered.filter(isCounted).length / Math.max(1, answered.length)
  const barred = (figure: Omit<Figure, 'bar'>, bar: Figure['bar']): Figure =>
    bars === undefined || bar === undefined ? figure : { ...figure, bar }
  const at = (limit: number | undefined) => (limit === undefined ? undefined : { atLeast: limit })
  const below = (limit: number | undefined) => (limit === undefined ? undefined : { atMost: limit })
  return [
    barred({ name: `${name}: right`, value: share((one) => one.isRight), unit: '' }, at(bars?.right)),
    barred(
      { name: `${name}: right and sure`, value: share((one) => one.isRight && one.isSure), unit: '' },
      at(bars?.rightAndSure),
    ),
    barred(
      { name: `${name}: wrong and sure`, value: share((one) => !one.isRight && one.isSure), unit: '' },
      below(bars?.wrongAndSure),
    ),
    barred(
      { name: `${name}: wrongly refused`, value: share((one) => one.isRefused), unit: '' },
      below(bars?.wronglyRefused),
    ),
    {
      name: `${name}: sure of what is not there`,
      value: unanswered.filter(({ isSure }) => isSure).length,
      unit: `of ${unanswered.length}`,
    },
    barred(
      {
        name: `${name}: median length`,
        value: percentile(
          answered.filter(({ isRefused }) => !isRefused).map(({ length }) => length),
          0.5,
        ),
        unit: 'characters',
      },
      below(bars?.medianLength),
    ),
  ]
}
