import { isRecord, textOf } from '../../lib/json/values.js'

/** The items of a list page, whatever its field is called. */
export function itemsOf(page: unknown): Record<string, unknown>[] {
  const items: unknown = isRecord(page) ? (page.items ?? page.data) : undefined
  return Array.isArray(items) ? items.filter(isRecord) : []
}

export function idsOf(page: unknown): string[] {
  return itemsOf(page).flatMap(({ id }) => textOf(id) ?? [])
}
