import type { InputControl } from '../../contract/chat/application.js'
import type { ChatApp } from '../../contract/chat/apps.js'
import { invalidParam } from '../../contract/chat/errors.js'

export type Inputs = Record<string, string>

interface Control {
  variable: string
  required: boolean
  fallback: string
  maxLength: number | undefined
  options: string[] | undefined
}

/**
 * The form variables of a turn: stored values, overwritten by sent ones. Variables that the form lacks are dropped;
 * required ones are only required in the first turn.
 *
 * @throws ChatError `invalid_param`
 */
export function readInputs(app: ChatApp, sent: Record<string, unknown>, kept: Inputs | undefined): Inputs {
  const inputs: Inputs = {}
  for (const form of app.userInputForm) {
    const control = controlOf(form)
    const value = own(sent, control.variable)
    const stored = kept && own(kept, control.variable)
    if (value === undefined || value === null || value === '') {
      if (kept === undefined && control.required)
        throw invalidParam('inputs', `${control.variable} is required in input form`)
      inputs[control.variable] = stored ?? control.fallback
    } else inputs[control.variable] = checked(control, value)
  }
  return inputs
}

/** An own property: a variable may have the name of a property of every object. */
function own<T>(values: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

/** The opening message with `{{variable}}` replaced by its value. */
export function introduction(app: ChatApp, inputs: Inputs): string {
  return filled(app.openingStatement, inputs)
}

/** Replaces `{{variable}}` by its value; unknown variables stay unchanged. */
export function filled(text: string, inputs: Inputs): string {
  return text.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (whole, name: string) =>
    Object.hasOwn(inputs, name) ? (inputs[name] ?? whole) : whole,
  )
}

function checked({ variable, maxLength, options }: Control, text: unknown): string {
  if (typeof text !== 'string') throw invalidParam('inputs', `${variable} in input form must be a string`)
  if (options !== undefined && !options.includes(text))
    throw invalidParam('inputs', `${variable} in input form must be one of the following: ${options.join(', ')}`)
  if (maxLength !== undefined && [...text].length > maxLength)
    throw invalidParam('inputs', `${variable} in input form must be at most ${maxLength} characters long`)
  return text
}

function controlOf(form: InputControl): Control {
  const common = (control: { variable: string; required: boolean; default?: string | undefined }) => ({
    variable: control.variable,
    required: control.required,
    fallback: control.default ?? '',
  })
  if ('select' in form) return { ...common(form.select), maxLength: undefined, options: form.select.options }
  if ('paragraph' in form)
    return { ...common(form.paragraph), maxLength: form.paragraph.max_length, options: undefined }
  const text = form['text-input']
  return { ...common(text), maxLength: text.max_length, options: undefined }
}
