import { isRecord, toNonEmptyString } from '../../lib/json/values.js'

/** The items of a list page, whatever its field is called. */
export function getItems(page: unknown): Record<string, unknown>[] {
  const items: unknown = isRecord(page) ? (page.items ?? page.data) : undefined
  return Array.isArray(items) ? items.filter(isRecord) : []
}

export function getIds(page: unknown): string[] {
  return getItems(page).flatMap(({ id }) => toNonEmptyString(id) ?? [])
}
