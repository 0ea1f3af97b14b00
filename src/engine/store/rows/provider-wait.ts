import type { DegradedClass } from '../../base/degraded.js'

/** A space that waits because the provider of its model does not respond. */
export interface ProviderWait {
  space_key: number
  attempts: number
  since: number
  next_at: number
  error_class: DegradedClass
  error: string
  permanent: number
}
