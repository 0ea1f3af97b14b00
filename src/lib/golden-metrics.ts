import { omitUndefined } from './omit-undefined.js'

/** The figures of one question of a golden run. */
export interface QuestionFigures {
  recall?: number | undefined
  reciprocalRank?: number | undefined
  /** whether the space was right about having or not having an answer */
  answerable?: boolean | undefined
  answer?: { right: boolean } | undefined
}

interface Metrics {
  questions: number
  recall?: number
  mrr?: number
  answerable?: number
  /** fraction of right answers, among the questions that expect one */
  answer?: number
}

/** Averages each figure over the questions that have it. */
export function computeGoldenMetrics(results: readonly QuestionFigures[]): Metrics {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const average = (getValue: (result: QuestionFigures) => number | undefined): number | undefined => {
    const values = results.flatMap((result) => getValue(result) ?? [])
    return values.length === 0 ? undefined : Math.round(mean(values) * 10_000) / 10_000
  }
  const recall = average((result) => result.recall)
  const mrr = average((result) => result.reciprocalRank)
  const answerable = average((result) => (result.answerable === undefined ? undefined : Number(result.answerable)))
  const answer = average((result) => (result.answer === undefined ? undefined : Number(result.answer.right)))
  return { questions: results.length, ...omitUndefined({ recall, mrr, answerable, answer }) }
}
