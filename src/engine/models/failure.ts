import { KsError } from '../../contract/errors.js'
import { ProviderFailure } from '../base/provider-failure.js'

// 501 and 505 are 5xx, but say that the server will never do it

/** Whatever a provider's code threw, as a failure that is safe to show. */
export function toFailure(error: unknown): ProviderFailure {
  if (error instanceof ProviderFailure) return error
  // what else arrives here is a fault of ours, and its message may quote anything
  return new ProviderFailure('unexpected', error instanceof Error ? error.name : typeof error)
}

/** The one sentence that leaves this part: provider and class of failure, nothing that came over the wire. */
export function toKsError(provider: string, failure: ProviderFailure): KsError {
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
      return 'was given more text than its model can hold'
    case 'circuit-open':
      return 'keeps failing and is left alone for a while'
    case 'program':
      return `could not do it: its program ${failure.message}`
    case 'unexpected':
      return `could not be called: ${failure.message}`
  }
}

function describeRefusal({ refusal, status }: ProviderFailure): string | undefined {
  if (refusal === undefined) return undefined
  if (refusal.kind === 'quota') return `has no quota left (${status})`
  const model = JSON.stringify(refusal.model)
  // a wrong address is answered like this too
  return status === 404 ? `has no model ${model}, or not at this address (404)` : `does not know the model ${model}`
}

function describeStatus(status: number): string {
  if (status === 429) return 'is limiting the rate of calls (429)'
  if (status === 401 || status === 403) return `refused the credentials (${status})`
  if (status >= 500) return 'failed on its side (5xx)'
  if (status >= 400) return `refused the request (${status === 404 ? 404 : '4xx'})`
  return 'answered with a redirect (3xx), which is not followed'
}
