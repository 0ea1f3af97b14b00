import { isRecord, toNonEmptyString } from '../../lib/json/values.js'

/** The degradations of an answer or a report; empty if another version of the service omits them. */
export function parseDegradations(metadata: unknown): { class: string; reason: string }[] {
  const list = isRecord(metadata) && Array.isArray(metadata.degradations) ? metadata.degradations : []
  return list.filter(isRecord).map((degradation) => ({
    class: toNonEmptyString(degradation.class) ?? 'unavailable',
    reason: toNonEmptyString(degradation.reason) ?? 'no reason given',
  }))
}

/** `degraded: auth`, each class once; `undefined` without degradations. */
export function formatDegradations(degraded: readonly { class: string }[]): string | undefined {
  if (degraded.length === 0) return undefined
  return `degraded: ${[...new Set(degraded.map((degradation) => degradation.class))].join(', ')}`
}
