import { isOfThisAnalyzer, parseModel } from '../../models/index.js'
import { BUNDLE_LIMITS } from './limits.js'

/**
 * Finds what is wrong with the model of a vector space. One of another analyser version is trained again when it is
 * used.
 */
export function findVectorModelProblem(
  isBuiltin: boolean,
  bytes: Buffer | undefined,
  dimension: number,
): string | undefined {
  if (!isBuiltin) return bytes === undefined ? undefined : 'does not belong to a provider'
  if (bytes === undefined) return 'is missing'
  if (bytes.length > BUNDLE_LIMITS.modelBytes) return `is larger than ${BUNDLE_LIMITS.modelBytes} bytes`
  if (!isOfThisAnalyzer(bytes)) return undefined
  try {
    const model = parseModel(bytes)
    if (model.dimension !== dimension) return `has ${model.dimension} dimensions and not ${dimension}`
    return model.scales.every(Number.isFinite) ? undefined : 'has scales that are not numbers'
  } catch {
    return 'cannot be read'
  }
}
