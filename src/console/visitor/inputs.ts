import type { InputControl } from '../../contract/chat/application.js'
import { element } from './elements.js'

/** Creates the form for an application's variables, filled in before the first message. */
export function inputsForm(controls: readonly InputControl[]) {
  const fields = controls.flatMap((one) =>
    Object.values(one).map((control) => {
      const { variable, label, required, default: given = '' } = control
      const field =
        'options' in control
          ? element(
              'select',
              { name: variable, required },
              element('option', {}, ''),
              ...control.options.map((option: string) => element('option', {}, option)),
            )
          : element('input', { name: variable, required })
      field.value = given
      return { field, view: element('label', {}, label, field) }
    }),
  )
  const view = element('form', { className: 'inputs', hidden: fields.length === 0 }, ...fields.map((one) => one.view))
  return {
    view,
    isComplete: () => view.hidden || view.reportValidity(),
    values: () =>
      Object.fromEntries(
        fields.filter(({ field }) => field.value !== '').map(({ field }) => [field.name, field.value]),
      ),
  }
}
