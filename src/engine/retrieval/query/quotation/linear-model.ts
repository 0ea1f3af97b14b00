/** A logistic model: the logarithm of the odds is the bias plus the weighted sum of the values. */
export interface LinearModel {
  weights: readonly number[]
  bias: number
}

/** Computes the logarithm of the odds. @param values one for each weight */
export function computeLogit({ weights, bias }: LinearModel, values: readonly number[]): number {
  return values.reduce((sum, value, index) => sum + value * (weights[index] ?? 0), bias)
}

/** Computes the probability, 0 to 1. @param values one for each weight */
export function computeProbability(model: LinearModel, values: readonly number[]): number {
  return 1 / (1 + Math.exp(-computeLogit(model, values)))
}

/** A model with its weights by name. */
export interface NamedModel<Name extends string> {
  bias: number
  weights: Readonly<Record<Name, number>>
}

/** Puts the weights in the order of their names. */
export function toOrderedModel<Name extends string>(names: readonly Name[], model: NamedModel<Name>): LinearModel {
  return { bias: model.bias, weights: names.map((name) => model.weights[name]) }
}
