import { type Attributes, readMarkup } from '../markup/markup-events.js'

interface NumberLevel {
  start: number
  format: string
  /** `%1.%2.` */
  text: string
  /** level after which the count restarts; 0: it never restarts */
  restart: number | undefined
  isLegal: boolean
  hasSpace: boolean
  style: string | undefined
}

interface NumberList {
  /** key of the counts, which lists with the same definition share */
  definition: string
  starts: Map<number, number>
  levels: Map<number, NumberLevel>
}

/** The number of one paragraph as it is shown. */
export interface WordNumber {
  /** empty for a bullet, and where nothing is shown */
  label: string
  isBullet: boolean
  level: number
  /** between the label and the text: a space, or nothing */
  separator: string
}

const MAX_LEVEL = 8
const MAX_LABEL = 40

/** Counts the numbered paragraphs of a Word document (ISO/IEC 29500-1, 17.9). */
export class WordNumbering {
  readonly #definitions = new Map<string, Map<number, NumberLevel>>()
  /** names of list styles that a definition leads to, and definitions by the style that they define */
  readonly #links = new Map<string, string>()
  readonly #styleDefinitions = new Map<string, string>()
  readonly #lists = new Map<string, NumberList>()
  readonly #counts = new Map<string, number[]>()
  readonly #started = new Set<string>()

  /** @param xml part with the definitions; empty for a document without one */
  constructor(xml: string) {
    if (xml === '') return
    let definition = ''
    let list: NumberList | undefined
    let override: number | undefined
    let level: NumberLevel | undefined
    const open = (name: string, attributes: Attributes): void => {
      const value = attributes.get('w:val') ?? ''
      if (name === 'w:abstractNum') {
        definition = attributes.get('w:abstractNumId') ?? ''
        this.#definitions.set(definition, new Map())
      } else if (name === 'w:num') {
        list = { definition: '', starts: new Map(), levels: new Map() }
        this.#lists.set(attributes.get('w:numId') ?? '', list)
      } else if (name === 'w:abstractNumId' && list !== undefined) list.definition = value
      else if (name === 'w:lvlOverride') override = Number(attributes.get('w:ilvl'))
      else if (name === 'w:startOverride' && override !== undefined) list?.starts.set(override, Number(value))
      else if (name === 'w:numStyleLink') this.#links.set(definition, value)
      else if (name === 'w:styleLink') this.#styleDefinitions.set(value, definition)
      else if (name === 'w:lvl') {
        level = {
          start: 0,
          format: 'decimal',
          text: '',
          restart: undefined,
          isLegal: false,
          hasSpace: true,
          style: undefined,
        }
        const levels = list?.levels ?? this.#definitions.get(definition)
        levels?.set(Number(attributes.get('w:ilvl')), level)
      } else if (level !== undefined) setLevel(level, name, value)
    }
    const close = (name: string): void => {
      if (name === 'w:num') list = undefined
      else if (name === 'w:lvlOverride') override = undefined
      else if (name === 'w:lvl') level = undefined
    }
    readMarkup(xml, { open, close, text: () => undefined }, 'xml')
  }

  /** The level of a list that belongs to a paragraph style; 0 without one. */
  levelOfStyle(listId: string, style: string): number {
    for (const [index, level] of this.#levels(this.#lists.get(listId))) if (level.style === style) return index
    return 0
  }

  /** Counts a paragraph. @returns undefined for a list that does not exist, and for `0`, which removes a number */
  next(listId: string, level: number): WordNumber | undefined {
    const list = this.#lists.get(listId)
    if (list === undefined || !Number.isInteger(level) || level < 0 || level > MAX_LEVEL) return undefined
    const levels = this.#levels(list)
    const own = levels.get(level)
    if (own === undefined) return { label: '', isBullet: true, level, separator: ' ' }
    const counts = this.#count(listId, list, level)
    if (own.format === 'bullet') return { label: '', isBullet: true, level, separator: ' ' }
    const label = own.text.replace(/%([1-9])/g, (_all, digit: string) => {
      const index = Number(digit) - 1
      const definition = levels.get(index)
      const format = own.isLegal && index < level ? 'decimal' : (definition?.format ?? 'decimal')
      return formatNumber(counts[index] ?? definition?.start ?? 1, own.isLegal ? 'decimal' : format)
    })
    const shown = own.format === 'none' && !/\p{L}/u.test(label) ? '' : label.trim().slice(0, MAX_LABEL)
    return { label: shown, isBullet: false, level, separator: own.hasSpace ? ' ' : '' }
  }

  #count(listId: string, list: NumberList, level: number): number[] {
    const levels = this.#levels(list)
    const counts = this.#counts.get(list.definition) ?? []
    this.#counts.set(list.definition, counts)
    // a start of its own counts when the list uses the level first
    const firstUse = `${listId} ${level}`
    const start = this.#started.has(firstUse) ? undefined : list.starts.get(level)
    this.#started.add(firstUse)
    for (let index = 0; index < level; index++)
      counts[index] ??= list.starts.get(index) ?? levels.get(index)?.start ?? 1
    const previous = counts[level]
    counts[level] = start ?? (previous === undefined ? (levels.get(level)?.start ?? 1) : previous + 1)
    for (let index = level + 1; index < counts.length; index++) {
      const restart = levels.get(index)?.restart
      if (restart === undefined || (restart > 0 && level < restart)) delete counts[index]
    }
    return counts
  }

  /** The levels of a list, with its own ones in place of those of its definition. */
  #levels(list: NumberList | undefined): Map<number, NumberLevel> {
    if (list === undefined) return new Map()
    const link = this.#links.get(list.definition)
    const linked = link === undefined ? undefined : this.#styleDefinitions.get(link)
    const levels = this.#definitions.get(linked ?? list.definition) ?? new Map<number, NumberLevel>()
    return list.levels.size === 0 ? levels : new Map([...levels, ...list.levels])
  }
}

function setLevel(level: NumberLevel, name: string, value: string): void {
  if (name === 'w:start') level.start = Number(value) || 0
  else if (name === 'w:numFmt') level.format = value
  else if (name === 'w:lvlText') level.text = value
  else if (name === 'w:lvlRestart') level.restart = Number(value)
  else if (name === 'w:isLgl') level.isLegal = !/^(?:0|false|off)$/.test(value)
  else if (name === 'w:suff') level.hasSpace = value !== 'nothing'
  else if (name === 'w:pStyle') level.style = value
}

/** Formats a number (ISO/IEC 29500-1, 17.18.59); formats of other scripts as decimal numbers. */
function formatNumber(value: number, format: string): string {
  if (format === 'none') return ''
  if (format === 'decimalZero') return String(value).padStart(2, '0')
  if (format === 'upperRoman') return toRoman(value)
  if (format === 'lowerRoman') return toRoman(value).toLowerCase()
  if (format === 'upperLetter') return toLetters(value)
  if (format === 'lowerLetter') return toLetters(value).toLowerCase()
  if (format === 'decimalEnclosedCircle' && value >= 1 && value <= 20) return String.fromCodePoint(0x245f + value)
  if (format === 'ordinal') return `${value}${ORDINAL_ENDINGS[ORDINALS.select(value)] ?? 'th'}`
  return String(value)
}

const ORDINALS = new Intl.PluralRules('en', { type: 'ordinal' })
const ORDINAL_ENDINGS: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' }
const ROMAN: readonly (readonly [number, string])[] = [
  [1000, 'M'],
  [900, 'CM'],
  [500, 'D'],
  [400, 'CD'],
  [100, 'C'],
  [90, 'XC'],
  [50, 'L'],
  [40, 'XL'],
  [10, 'X'],
  [9, 'IX'],
  [5, 'V'],
  [4, 'IV'],
  [1, 'I'],
]

function toRoman(value: number): string {
  if (value < 1 || value >= 4000) return String(value)
  let rest = value
  let text = ''
  for (const [number, digits] of ROMAN) for (; rest >= number; rest -= number) text += digits
  return text
}

/** `A` to `Z`, then `AA`, `BB`: the letter is repeated. */
function toLetters(value: number): string {
  if (value < 1 || value > 26 * MAX_LABEL) return String(value)
  return String.fromCharCode(65 + ((value - 1) % 26)).repeat(Math.ceil(value / 26))
}
