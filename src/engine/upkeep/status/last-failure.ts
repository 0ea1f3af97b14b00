import type { ProviderWait } from '../../store/rows/provider-wait.js'

/** The last failure of a provider, as a status shows it; empty if it responds. */
export function toLastFailure(wait: ProviderWait | undefined) {
  if (wait === undefined) return {}
  return {
    errorClass: wait.error_class,
    error: wait.error,
    permanent: wait.permanent === 1,
    since: new Date(wait.since).toISOString(),
    nextAttemptAt: new Date(wait.next_at).toISOString(),
  }
}
