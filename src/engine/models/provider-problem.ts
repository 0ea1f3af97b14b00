import { KsError } from '../../contract/errors.js'
import { classifyError } from '../base/degraded.js'
import { ProviderFailure } from '../base/provider-failure.js'
import type { ProviderProblem } from '../base/provider-problem.js'

const SETTINGS_ADVICE = 'correct `providers` in the configuration of the daemon, which it reads at its start'

/** Explains a failed call. @param model its name at the provider */
export function toProviderProblem(error: unknown, model: string): ProviderProblem {
  const message = error instanceof KsError ? error.message : 'the provider could not be asked'
  const advice = findAdvice(error, model)
  const retryAfter = error instanceof KsError ? error.retryAfter : undefined
  return {
    class: classifyError(error),
    isPermanent: advice !== undefined,
    message: advice === undefined ? message : `${message}: ${advice}`,
    ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter * 1000 }),
  }
}

/** Advice for a permanent failure; undefined where the failure may pass without a change. */
function findAdvice(error: unknown, model: string): string | undefined {
  if (!(error instanceof KsError)) return undefined
  // a provider or model that is not configured in this daemon
  if (!(error.cause instanceof ProviderFailure)) {
    return error.code === 'unavailable' && error.cause === undefined ? SETTINGS_ADVICE : undefined
  }
  const { kind, status = 0 } = error.cause
  if (kind === 'context-too-long' || status === 413) return `\`maxChars\` of the model cuts texts; ${SETTINGS_ADVICE}`
  if (status === 401 || status === 403) return `its key is wrong or lacks the permission; ${SETTINGS_ADVICE}`
  if (status === 402) return 'the account at the provider has to be topped up'
  if (status === 404) return `it may not have model ${JSON.stringify(model)}; ${SETTINGS_ADVICE}`
  const isRefused = kind === 'status' && status >= 300 && status < 500 && status !== 408 && status !== 429
  return isRefused ? SETTINGS_ADVICE : undefined
}

/** Whether the texts of a call may have caused its failure, so that other texts may succeed. */
export function mayBeCausedByTexts(error: unknown): boolean {
  if (isContentRejection(error)) return true
  return error instanceof KsError && error.cause instanceof ProviderFailure && error.cause.kind === 'malformed'
}

/** Whether the provider rejected the content of a call. */
export function isContentRejection(error: unknown): boolean {
  if (!(error instanceof KsError) || !(error.cause instanceof ProviderFailure)) return false
  const { kind, status = 0 } = error.cause
  return kind === 'context-too-long' || (kind === 'status' && [400, 413, 422].includes(status))
}
