import type { Attributes } from '../markup/markup-events.js'
import { isOn } from './word-styles.js'
import { findSymbol } from './word-symbols.js'

interface OpenField {
  instruction: string
  isResult: boolean
  hasResult: boolean
  checked: boolean | undefined
  entries: string[]
  selected: number
}

/** The signs of a check box. */
export const CHECK_SIGNS = { on: '☒', off: '☐' } as const
const MAX_INSTRUCTION = 4000
const MAX_FIELDS = 100
const MAX_ENTRIES = 1000

/** The complex fields that are open in a Word text (ISO/IEC 29500-1, 17.16). Their results are text, not their instructions. */
export class WordFields {
  #open: OpenField[] = []

  /** Whether text belongs to the instruction of a field. */
  get isInstruction(): boolean {
    return this.#open.some(({ isResult }) => !isResult)
  }

  /** Reads an element of a field. @returns a text to add, of a field without a result */
  element(name: string, attributes: Attributes): string {
    const field = this.#open.at(-1)
    if (name === 'w:fldChar') return this.#mark(attributes.get('w:fldCharType') ?? '')
    if (field === undefined) return ''
    if (name === 'w:default' || name === 'w:checked') {
      if (field.checked !== undefined && (name === 'w:checked' || !field.checked)) field.checked = isOn(attributes)
      else if (name === 'w:default') field.selected = Number(attributes.get('w:val')) || 0
    } else if (name === 'w:checkBox') field.checked = false
    else if (name === 'w:result') field.selected = Number(attributes.get('w:val')) || 0
    else if (name === 'w:listEntry' && field.entries.length < MAX_ENTRIES)
      field.entries.push(attributes.get('w:val') ?? '')
    return ''
  }

  instruct(text: string): void {
    const field = this.#open.at(-1)
    if (field !== undefined && !field.isResult && field.instruction.length < MAX_INSTRUCTION) field.instruction += text
  }

  /** Records that text was read. */
  addResult(): void {
    for (const field of this.#open) field.hasResult = true
  }

  /** Ends a paragraph: a field whose instruction does not end in it is damaged, and hides no further text. */
  endParagraph(): void {
    if (this.isInstruction) this.#open = this.#open.filter(({ isResult }) => isResult)
  }

  #mark(type: string): string {
    if (type === 'begin') {
      if (this.#open.length < MAX_FIELDS)
        this.#open.push({
          instruction: '',
          isResult: false,
          hasResult: false,
          checked: undefined,
          entries: [],
          selected: 0,
        })
      return ''
    }
    const field = this.#open.at(-1)
    if (field === undefined) return ''
    if (type === 'separate') field.isResult = true
    if (type !== 'end') return ''
    this.#open.pop()
    return field.hasResult ? '' : getFieldText(field)
  }
}

/** What a field without a result shows. */
function getFieldText({ instruction, checked, entries, selected }: OpenField): string {
  if (checked !== undefined) return checked ? CHECK_SIGNS.on : CHECK_SIGNS.off
  if (entries.length > 0) return entries[selected] ?? ''
  const [, name = '', rest = ''] = /^\s*(\w+)\s*([\s\S]*)$/.exec(instruction) ?? []
  if (name === 'SYMBOL') {
    const code = /^(\d{1,6}|0x[0-9a-f]{1,6})/i.exec(rest)?.[1]
    const font = /\\f\s*"?([^"\\]{1,60})/.exec(rest)?.[1]?.trim() ?? ''
    return code === undefined ? '' : (findSymbol(font, Number(code)) ?? '')
  }
  // an equation as it was typed: `\f(1,2)`
  return name.toUpperCase() === 'EQ' ? ` ${rest.replace(/\\\*?\s*[A-Za-z]+\d*|[()]/g, ' ')} ` : ''
}
