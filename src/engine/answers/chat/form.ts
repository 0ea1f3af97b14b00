import type { InputControl } from '../../../contract/chat/application.js'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { invalidParamError } from '../../../contract/chat/errors.js'

export type Inputs = Record<string, string>

interface FormControl {
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
export function parseInputs(
  app: ChatApp,
  sentInputs: Record<string, unknown>,
  storedInputs: Inputs | undefined,
): Inputs {
  const inputs: Inputs = {}
  for (const form of app.userInputForm) {
    const control = toFormControl(form)
    const value = getOwn(sentInputs, control.variable)
    const stored = storedInputs && getOwn(storedInputs, control.variable)
    if (value === undefined || value === null || value === '') {
      if (storedInputs === undefined && control.required)
        throw invalidParamError('inputs', `${control.variable} is required in input form`)
      inputs[control.variable] = stored ?? control.fallback
    } else inputs[control.variable] = validateValue(control, value)
  }
  return inputs
}

/** An own property: a variable may have the name of a property of every object. */
function getOwn<T>(values: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}

/** The opening message with `{{variable}}` replaced by its value. */
export function getIntroduction(app: ChatApp, inputs: Inputs): string {
  return fillTemplate(app.openingStatement, inputs)
}

/** Replaces `{{variable}}` by its value; unknown variables stay unchanged. */
export function fillTemplate(text: string, inputs: Inputs): string {
  return text.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (placeholder, name: string) =>
    Object.hasOwn(inputs, name) ? (inputs[name] ?? placeholder) : placeholder,
  )
}

function validateValue({ variable, maxLength, options }: FormControl, text: unknown): string {
  if (typeof text !== 'string') throw invalidParamError('inputs', `${variable} in input form must be a string`)
  if (options !== undefined && !options.includes(text))
    throw invalidParamError('inputs', `${variable} in input form must be one of the following: ${options.join(', ')}`)
  if (maxLength !== undefined && [...text].length > maxLength)
    throw invalidParamError('inputs', `${variable} in input form must be at most ${maxLength} characters long`)
  return text
}

function toFormControl(form: InputControl): FormControl {
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
