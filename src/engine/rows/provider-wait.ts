import type { DegradedClass } from '../base/degraded.js'

/** A space whose model's provider does not answer. */
export interface ProviderWait {
  space_key: number
  attempts: number
  since: number
  next_at: number
  error_class: DegradedClass
  error: string
  permanent: number
}
