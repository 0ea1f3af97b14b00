import type { LinearModel } from '../../src/engine/retrieval/query/quotation/choose.js'

export interface Example {
  values: readonly number[]
  label: 0 | 1
  weight: number
}

const ITERATIONS = 25
const CONVERGED = 1e-6

/**
 * Fits a logistic model by Newton's method with an L2 penalty on standardised values.
 *
 * @param penalty inverse variance of the prior of each standardised weight
 * @returns weights of the values as they are, and the bias
 */
export function fitLogistic(examples: readonly Example[], penalty: number): LinearModel {
  const size = examples[0]?.values.length ?? 0
  const total = examples.reduce((sum, { weight }) => sum + weight, 0)
  const means = Array.from(
    { length: size },
    (_, index) => examples.reduce((sum, { values, weight }) => sum + weight * values[index]!, 0) / total,
  )
  const deviations = means.map((mean, index) => {
    const variance =
      examples.reduce((sum, { values, weight }) => sum + weight * (values[index]! - mean) ** 2, 0) / total
    return variance < 1e-12 ? 1 : Math.sqrt(variance)
  })
  const rows = examples.map(({ values }) =>
    Float64Array.from([...values.map((value, index) => (value - means[index]!) / deviations[index]!), 1]),
  )
  const width = size + 1
  const beta = new Float64Array(width)
  for (let iteration = 0; iteration < ITERATIONS; iteration++) {
    const gradient = new Float64Array(width)
    const hessian = Array.from({ length: width }, () => new Float64Array(width))
    for (const [index, row] of rows.entries()) {
      const { label, weight } = examples[index]!
      let logit = 0
      for (let i = 0; i < width; i++) logit += beta[i]! * row[i]!
      const probability = 1 / (1 + Math.exp(-logit))
      const slope = weight * (label - probability)
      const curvature = weight * probability * (1 - probability)
      for (let i = 0; i < width; i++) {
        gradient[i]! += slope * row[i]!
        const line = hessian[i]!
        const scaled = curvature * row[i]!
        for (let j = 0; j <= i; j++) line[j]! += scaled * row[j]!
      }
    }
    for (let i = 0; i < width; i++) {
      for (let j = 0; j < i; j++) hessian[j]![i] = hessian[i]![j]!
      if (i === size) continue
      gradient[i]! -= penalty * beta[i]!
      hessian[i]![i]! += penalty
    }
    const step = solve(hessian, gradient)
    for (let i = 0; i < width; i++) beta[i]! += step[i]!
    if (Math.max(...step.map(Math.abs)) < CONVERGED) break
  }
  const weights = means.map((_, index) => beta[index]! / deviations[index]!)
  const bias = beta[size]! - weights.reduce((sum, weight, index) => sum + weight * means[index]!, 0)
  return { weights, bias }
}

/** Solves a symmetric positive definite system by Cholesky's decomposition. */
function solve(matrix: readonly Float64Array[], right: Float64Array): Float64Array {
  const size = right.length
  const lower = matrix.map((row) => row.slice())
  for (let i = 0; i < size; i++)
    for (let j = 0; j <= i; j++) {
      let sum = lower[i]![j]!
      for (let k = 0; k < j; k++) sum -= lower[i]![k]! * lower[j]![k]!
      lower[i]![j] = i === j ? Math.sqrt(Math.max(sum, 1e-12)) : sum / lower[j]![j]!
    }
  const result = right.slice()
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < i; k++) result[i]! -= lower[i]![k]! * result[k]!
    result[i]! /= lower[i]![i]!
  }
  for (let i = size - 1; i >= 0; i--) {
    for (let k = i + 1; k < size; k++) result[i]! -= lower[k]![i]! * result[k]!
    result[i]! /= lower[i]![i]!
  }
  return result
}
