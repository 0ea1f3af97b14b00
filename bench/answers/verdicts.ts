import { type Figure, percentile } from '../lib/report.js'

/** The result of one question. */
export interface Verdict {
  /** some document answers it */
  isAnswered: boolean
  isRight: boolean
  /** presented as the answer, not as the closest passages */
  isSure: boolean
  /** nothing was presented */
  isRefused: boolean
  /** characters of the text */
  length: number
}

/** Bars for a set of questions; all but the length are fractions. */
export interface AnswerBars {
  right: number
  rightAndSure: number
  wrongAndSure: number
  wronglyRefused: number
  medianLength: number
}

export function computeAnswerFigures(name: string, verdicts: readonly Verdict[], bars?: AnswerBars): Figure[] {
  const answered = verdicts.filter(({ isAnswered }) => isAnswered)
  const unanswered = verdicts.filter(({ isAnswered }) => !isAnswered)
  const computeFraction = (isCounted: (one: Verdict) => boolean): number =>
    answered.filter(isCounted).length / Math.max(1, answered.length)
  const withBar = (figure: Omit<Figure, 'bar'>, bar: Figure['bar']): Figure =>
    bars === undefined || bar === undefined ? figure : { ...figure, bar }
  const atLeast = (limit: number | undefined) => (limit === undefined ? undefined : { atLeast: limit })
  const atMost = (limit: number | undefined) => (limit === undefined ? undefined : { atMost: limit })
  return [
    withBar({ name: `${name}: right`, value: computeFraction((one) => one.isRight), unit: '' }, atLeast(bars?.right)),
    withBar(
      { name: `${name}: right and sure`, value: computeFraction((one) => one.isRight && one.isSure), unit: '' },
      atLeast(bars?.rightAndSure),
    ),
    withBar(
      { name: `${name}: wrong and sure`, value: computeFraction((one) => !one.isRight && one.isSure), unit: '' },
      atMost(bars?.wrongAndSure),
    ),
    withBar(
      { name: `${name}: wrongly refused`, value: computeFraction((one) => one.isRefused), unit: '' },
      atMost(bars?.wronglyRefused),
    ),
    {
      name: `${name}: sure of what is not there`,
      value: unanswered.filter(({ isSure }) => isSure).length,
      unit: `of ${unanswered.length}`,
    },
    withBar(
      {
        name: `${name}: median length`,
        value: percentile(
          answered.filter(({ isRefused }) => !isRefused).map(({ length }) => length),
          0.5,
        ),
        unit: 'characters',
      },
      atMost(bars?.medianLength),
    ),
  ]
}
