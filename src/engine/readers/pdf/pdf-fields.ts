import { isRecord } from '../../../lib/json/values.js'

/** An area of a page in points, origin bottom left. */
export interface PageRect {
  left: number
  bottom: number
  right: number
  top: number
}

/** A text that a page shows above its content: the value of a form field, or a note written on the page. */
export interface ShownText {
  rows: string[]
  rect: PageRect
  size: number
  /** Name of a form field, for a page that prints none next to it. */
  label?: string
  /** What a selected button stands for. */
  choice?: string
}

/** Maximal number of characters of a value. */
const MAX_VALUE_LENGTH = 100_000
/** Size of the letters in fields that fit them to their height, in points. */
const MAX_AUTO_SIZE = 12
const MIN_AUTO_SIZE = 6
/** States of buttons whose names do not say what is selected. */
const PLAIN_STATE =
  /^(?:on|off|yes|no|true|false|ja|nein|oui|non|si|sí|no|x|(?:choice|option|auswahl|button)?[\s_]*\d*)$/i

/** Reads a form field as its page shows it. @returns undefined for a field that shows no text */
export function readField(data: Record<string, unknown>, rect: PageRect): ShownText | undefined {
  const field = { rect, size: readSize(data, rect), label: readLabel(data) }
  if (data.checkBox === true || data.radioButton === true) {
    const state = toText(data.checkBox === true ? data.exportValue : data.buttonValue)
    const isSelected = state !== '' && toText(data.fieldValue) === state
    return {
      ...field,
      rows: [isSelected ? '☒' : '☐'],
      ...(isSelected && !PLAIN_STATE.test(state) ? { choice: state } : {}),
    }
  }
  const rows = splitRows(readFieldValue(data))
  return rows.length === 0 ? undefined : { ...field, rows }
}

/** The value of a text or choice field, else what its appearance shows. */
function readFieldValue({ fieldValue, options, textContent }: Record<string, unknown>): string {
  const displayed = new Map<string, string>()
  for (const option of Array.isArray(options) ? options : [])
    if (isRecord(option)) displayed.set(toText(option.exportValue), toText(option.displayValue))
  const values = [fieldValue].flat().map(toText)
  const value = values.map((one) => displayed.get(one) ?? one).join('\n')
  return value.trim() === '' && Array.isArray(textContent) ? textContent.map(toText).join('\n') : value
}

/** The rows of a text without empty ones. */
export function splitRows(text: string): string[] {
  return text
    .slice(0, MAX_VALUE_LENGTH)
    .split(/\r\n?|\n|\u2028|\u2029/)
    .map((row) => row.trim())
    .filter((row) => row !== '')
}

/** The letter size of a text in points: the declared one, else one that fits into its area. */
export function readSize({ defaultAppearanceData }: Record<string, unknown>, { top, bottom }: PageRect): number {
  const size = isRecord(defaultAppearanceData) ? defaultAppearanceData.fontSize : undefined
  if (typeof size === 'number' && size > 1 && size < 200) return size
  return Math.min(MAX_AUTO_SIZE, Math.max(MIN_AUTO_SIZE, 0.7 * (top - bottom)))
}

/** The name of a field for people, else the last part of its name without numbers: `form[0].page1[0].vessel[0]`. */
function readLabel({ alternativeText, fieldName }: Record<string, unknown>): string {
  const name = toText(fieldName)
    .split('.')
    .at(-1)
    ?.replace(/\[\d+\]$/, '')
    .replaceAll('_', ' ')
  return (toText(alternativeText) || name || '').slice(0, 200)
}

/** The text of a value of pdf.js: a string, or an object that holds one. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value.replaceAll('\u0000', '').trim()
  return isRecord(value) && typeof value.str === 'string' ? toText(value.str) : ''
}
