import type { Attributes } from '../markup/markup-events.js'
import { CHECK_SIGNS } from './word-fields.js'

interface FormControl {
  label: string
  value: string
  /** Undefined for a control that is neither on nor off. */
  isOn: boolean | undefined
}

const MAX_CONTROLS = 5000
const MAX_TEXT = 2000

/** Reads the state of form controls and of form fields in an OpenDocument text (ODF 1.3, part 3, 13). */
export class OdfForms {
  readonly #controls = new Map<string, FormControl>()
  #control: FormControl | undefined
  #field: { kind: string; parameters: [name: string, value: string][] } | undefined

  /** Reads an element of a form, which is apart from the text. */
  readControl(name: string, attributes: Attributes): void {
    if (name === 'form:option') {
      const isSelected = (attributes.get('form:current-selected') ?? attributes.get('form:selected')) === 'true'
      if (isSelected && this.#control !== undefined) this.#control.value = attributes.get('form:label') ?? ''
      return
    }
    const id = attributes.get('xml:id') ?? attributes.get('form:id')
    if (id === undefined || this.#controls.size >= MAX_CONTROLS) return
    const state = attributes.get('form:current-state') ?? attributes.get('form:state')
    const selected = attributes.get('form:current-selected') ?? attributes.get('form:selected')
    this.#control = {
      label: attributes.get('form:label') ?? '',
      value: (attributes.get('form:current-value') ?? attributes.get('form:value') ?? '').slice(0, MAX_TEXT),
      isOn: name === 'form:checkbox' ? state === 'checked' : name === 'form:radio' ? selected === 'true' : undefined,
    }
    this.#controls.set(id, this.#control)
  }

  /** What a control in the text shows, by its id. */
  formatControl(id: string | undefined): string {
    const { label, value, isOn } = this.#controls.get(id ?? '') ?? { label: '', value: '', isOn: undefined }
    const sign = isOn === undefined ? '' : isOn ? CHECK_SIGNS.on : CHECK_SIGNS.off
    return [sign, label, isOn === undefined ? value : ''].filter((part) => part !== '').join(' ')
  }

  /** Reads the start of a form field in the text, as LibreOffice writes those of Word, or one of its parameters. */
  openField(name: string, attributes: Attributes): void {
    if (name === 'field:fieldmark') this.#field = { kind: attributes.get('field:type') ?? '', parameters: [] }
    else if (name === 'field:param' && this.#field !== undefined && this.#field.parameters.length < MAX_CONTROLS)
      this.#field.parameters.push([attributes.get('field:name') ?? '', attributes.get('field:value') ?? ''])
  }

  /** Ends a form field. @returns what it shows */
  closeField(): string {
    const { kind, parameters } = this.#field ?? { kind: '', parameters: [] }
    this.#field = undefined
    const find = (end: string): string | undefined => parameters.find(([name]) => name.endsWith(end))?.[1]
    if (kind.endsWith('FORMCHECKBOX')) return find('Checkbox_Checked') === 'true' ? CHECK_SIGNS.on : CHECK_SIGNS.off
    const entries = parameters.filter(([name]) => name.endsWith('Dropdown_ListEntry'))
    return entries[Number(find('Dropdown_Selected') ?? 0)]?.[1] ?? ''
  }
}
