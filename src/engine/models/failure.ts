import { KsError } from '../../contract/errors.js'
import { ProviderFailure } from '../base/provider-failure.js'

/** Converts anything that a provider's code threw into a failure that is safe to show. */
export function toProviderFailure(error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure) return error
  // anything else is a defect of ours, and its message may contain confidential text
  return new ProviderFailure('unexpected', error instanceof Error ? error.name : typeof error)
}

/** The only sentence that leaves this module: provider and kind of failure, nothing that the provider sent. */
export function toProviderError(provider: string, failure: ProviderFailure): KsError {
  const message = `provider ${JSON.stringify(provider)} ${describeFailure(failure)}`
  const options = { cause: failure }
  if (failure.retryAfterMs === undefined) return new KsError('provider-failed', message, options)
  return new KsError('provider-failed', message, { ...options, retryAfter: Math.ceil(failure.retryAfterMs / 1000) })
}

function describeFailure(failure: ProviderFailure): string {
  switch (failure.kind) {
    case 'status':
      return describeRefusal(failure) ?? describeStatus(failure.status ?? 0)
    case 'unreachable':
      return `could not be reached: ${failure.message}`
    case 'reset':
      return 'closed the connection before its answer was complete'
    case 'timeout':
      return `gave ${failure.message}`
    case 'malformed':
      return `sent an answer that cannot be used: ${failure.message}`
    case 'context-too-long':
      return 'got more text than fits the context window of its model'
    case 'circuit-open':
      return 'keeps failing and is not called for a while'
    case 'program':
      return `failed: its program ${failure.message}`
    case 'unexpected':
      return `could not be called: ${failure.message}`
  }
}

function describeRefusal({ refusal, status }: ProviderFailure): string | undefined {
  if (refusal === undefined) return undefined
  if (refusal.kind === 'quota') return `has no quota left (${status})`
  const model = JSON.stringify(refusal.model)
  // servers also send 404 for a wrong address
  return status === 404 ? `has no model ${model}, or not at this address (404)` : `does not know the model ${model}`
}

function describeStatus(status: number): string {
  if (status === 429) return 'is limiting the rate of calls (429)'
  if (status === 401 || status === 403) return `refused the credentials (${status})`
  if (status >= 500) return 'failed on its side (5xx)'
  if (status >= 400) return `refused the request (${status === 404 ? 404 : '4xx'})`
  return 'answered with a redirect (3xx), which is not followed'
}
