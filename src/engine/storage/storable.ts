import type { Bindable } from '../base/statements.js'

/**
 * Values of a statement as every database stores them. PostgreSQL has no text with U+0000, and UTF-8 none with half of a
 * surrogate pair; SQLite takes both, and cuts off or reads back something else. They are U+FFFD everywhere, so that what is
 * stored, looked for and compared is the same.
 */
export function storable(values: readonly Bindable[]): readonly Bindable[] {
  return values.every(isStorable) ? values : values.map((value) => (typeof value === 'string' ? mended(value) : value))
}

function isStorable(value: Bindable): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())
}

function mended(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}
