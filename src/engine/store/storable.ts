import type { Bindable } from '../base/statements.js'

/**
 * Converts values of a statement to what every database can store. PostgreSQL rejects U+0000 in text, and UTF-8 has no
 * unpaired surrogates; SQLite accepts both, but truncates the text or reads back another one. Both become U+FFFD
 * everywhere, so that stored and compared values agree.
 */
export function toStorable(values: readonly Bindable[]): readonly Bindable[] {
  return values.every(isStorable)
    ? values
    : values.map((value) => (typeof value === 'string' ? replaceUnstorable(value) : value))
}

function isStorable(value: Bindable): boolean {
  return typeof value !== 'string' || (!value.includes('\0') && value.isWellFormed())
}

function replaceUnstorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}
