import { type ComponentPropsWithRef, type ReactNode, useId } from 'react'
import { classes } from './button.js'

interface FieldProps {
  label: string
  hint?: ReactNode
  /** shown instead of the hint; marks the control as invalid */
  error?: string | undefined
}

interface FieldFrameProps extends FieldProps {
  /** renders the control with the attributes that connect it to label and note */
  children: (attributes: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode
}

function FieldFrame({ label, hint, error, children }: FieldFrameProps) {
  const id = useId()
  const note = error ?? hint
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        ...(note === undefined ? {} : { 'aria-describedby': `${id}-note` }),
        ...(error === undefined ? {} : { 'aria-invalid': true }),
      })}
      {note !== undefined && (
        <p id={`${id}-note`} className={error === undefined ? 'field-note' : 'field-note field-error'}>
          {note}
        </p>
      )}
    </div>
  )
}

/** Field for a line of text. */
export function TextField({ label, hint, error, className, ...rest }: FieldProps & ComponentPropsWithRef<'input'>) {
  return (
    <FieldFrame label={label} hint={hint} error={error}>
      {(attributes) => <input {...rest} {...attributes} className={classes('input', className)} />}
    </FieldFrame>
  )
}

/** Field for a number; bounds and steps use the attributes of `<input>`. */
export function NumberField(props: FieldProps & Omit<ComponentPropsWithRef<'input'>, 'type' | 'className'>) {
  return <TextField {...props} type="number" className="number" />
}

/** Field for several lines of text. */
export function TextAreaField({ label, hint, className, ...rest }: FieldProps & ComponentPropsWithRef<'textarea'>) {
  return (
    <FieldFrame label={label} hint={hint}>
      {(attributes) => <textarea {...rest} {...attributes} className={classes('textarea', className)} />}
    </FieldFrame>
  )
}

/** Field with a choice; `children` are the options. */
export function SelectField({ label, hint, ...rest }: FieldProps & ComponentPropsWithRef<'select'>) {
  return (
    <FieldFrame label={label} hint={hint}>
      {(attributes) => <select {...rest} {...attributes} className="select" />}
    </FieldFrame>
  )
}

/** Check box with its label. */
export function CheckBox({ children, ...rest }: ComponentPropsWithRef<'input'>) {
  return (
    <label className="check">
      <input {...rest} type="checkbox" />
      {children}
    </label>
  )
}
