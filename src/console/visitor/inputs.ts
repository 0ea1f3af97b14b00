import type { InputControl } from '../../contract/chat/application.js'
import { createElement } from './elements.js'

/** Creates the form for an application's variables, filled in before the first message. */
export function createInputsForm(controls: readonly InputControl[]) {
  const fields = controls.flatMap((item) =>
    Object.values(item).map((control) => {
      const { variable, label, required, default: initialValue = '' } = control
      const field =
        'options' in control
          ? createElement(
              'select',
              { name: variable, required },
              createElement('option', {}, ''),
              ...control.options.map((option: string) => createElement('option', {}, option)),
            )
          : createElement('input', { name: variable, required })
      field.value = initialValue
      return { field, view: createElement('label', {}, label, field) }
    }),
  )
  const view = createElement(
    'form',
    { className: 'inputs', hidden: fields.length === 0 },
    ...fields.map((item) => item.view),
  )
  return {
    view,
    isComplete: () => view.hidden || view.reportValidity(),
    values: () =>
      Object.fromEntries(
        fields.filter(({ field }) => field.value !== '').map(({ field }) => [field.name, field.value]),
      ),
  }
}
