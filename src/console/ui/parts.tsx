import { type ComponentPropsWithRef, type ReactNode, useEffect, useId, useRef } from 'react'
import { messageOf } from '../api/client.js'
import { Button, classes, IconButton } from './button.js'
import type { IconName } from './icon.js'
import { Notice } from './state.js'

/** Head of a page: title, introduction and actions. */
export function PageHead({ title, lead, actions }: { title: ReactNode; lead?: ReactNode; actions?: ReactNode }) {
  return (
    <header className="page-head">
      <div className="page-head-text">
        <h1>{title}</h1>
        {lead !== undefined && <p className="lead">{lead}</p>}
      </div>
      {actions !== undefined && <div className="page-head-actions">{actions}</div>}
    </header>
  )
}

/** Section with a frame and an optional title. */
export function Panel({ title, actions, children }: { title?: ReactNode; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="panel">
      {title !== undefined && (
        <header className="panel-head">
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  )
}

interface FormActionsProps {
  /** the mutation that the form starts: whether it is pending, and its error */
  mutation: { isPending: boolean; error: unknown }
  label: string
  kind?: 'primary' | 'plain' | 'danger'
  icon?: IconName
  disabled?: boolean
  /** without it the button submits the form */
  onClick?: () => void
  cancelLabel?: string
  /** without it there is no cancel button */
  onCancel?: () => void
  /** further actions, shown before the buttons */
  children?: ReactNode
}

/** Last row of a form or confirmation: the error, the cancel button and the button that submits. */
export function FormActions({ mutation, label, kind = 'primary', icon, disabled, onClick, ...rest }: FormActionsProps) {
  const { cancelLabel = 'Cancel', onCancel, children } = rest
  return (
    <>
      {mutation.error !== null && mutation.error !== undefined && (
        <Notice tone="bad">{messageOf(mutation.error)}</Notice>
      )}
      <div className="row form-end">
        {children}
        {onCancel !== undefined && <Button onClick={onCancel}>{cancelLabel}</Button>}
        <Button
          kind={kind}
          {...(icon === undefined ? {} : { icon })}
          type={onClick === undefined ? 'submit' : 'button'}
          busy={mutation.isPending}
          disabled={disabled === true}
          onClick={onClick}
        >
          {label}
        </Button>
      </div>
    </>
  )
}

/** Tab list; `onChange` usually updates the query of the URL. */
export function Tabs<T extends string>({
  label,
  tabs,
  value,
  onChange,
}: {
  label: string
  tabs: readonly { id: T; title: string; count?: number }[]
  value: T
  onChange: (id: T) => void
}) {
  const onKeyDown = (event: React.KeyboardEvent<HTMLDivElement>) => {
    const selectedIndex = tabs.findIndex(({ id }) => id === value)
    const targetIndex = { ArrowRight: selectedIndex + 1, ArrowLeft: selectedIndex - 1, Home: 0, End: -1 }[event.key]
    const next = targetIndex === undefined ? undefined : tabs[(targetIndex + tabs.length) % tabs.length]
    if (next === undefined) return
    event.preventDefault()
    onChange(next.id)
    event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus()
  }
  const list = useRef<HTMLDivElement>(null)
  const counts = tabs.map(({ count }) => count).join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: a count that appears moves the tabs after it
  useEffect(() => {
    // in a narrow window the selected tab may be out of view
    list.current?.querySelector(`[data-tab="${value}"]`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [value, counts])
  return (
    <div ref={list} className="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(({ id, title, count }) => (
        <button
          key={id}
          type="button"
          role="tab"
          className="tab"
          data-tab={id}
          aria-selected={id === value}
          tabIndex={id === value ? 0 : -1}
          onClick={() => onChange(id)}
        >
          {title}
          {count !== undefined && <span className="tab-count">{count}</span>}
        </button>
      ))}
    </div>
  )
}

interface DialogProps extends Omit<ComponentPropsWithRef<'dialog'>, 'title'> {
  title: ReactNode
  onClose: () => void
  /** full-height panel at the side of the page; `wide` for two columns */
  side?: boolean | 'wide'
}

/** First field of a form; of radio buttons the checked one. */
const FIRST_FIELD = ':is(input:not([type=radio]), input:checked, textarea, select):not(:disabled)'

/**
 * Modal dialog. The browser traps the focus and closes it on Escape. The focus moves to the first form field; on
 * closing it returns to the element that opened the dialog.
 */
export function Dialog({ title, onClose, side = false, className, children, ...rest }: DialogProps) {
  const frame = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const { current } = frame
    const opener = document.activeElement
    if (current !== null && !current.open) {
      current.showModal()
      if (side === false) current.querySelector<HTMLElement>(`.dialog-body ${FIRST_FIELD}`)?.focus()
    }
    return () => {
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [side])
  return (
    <dialog
      {...rest}
      ref={frame}
      className={classes('dialog', side !== false && 'dialog-side', side === 'wide' && 'dialog-wide', className)}
      aria-labelledby={titleId}
      onClose={onClose}
      onMouseDown={(event) => event.target === event.currentTarget && event.currentTarget.close()}
    >
      <div className="dialog-frame">
        <header className="dialog-head">
          <h2 id={titleId}>{title}</h2>
          <IconButton icon="close" label="Close" onClick={() => frame.current?.close()} />
        </header>
        <div className="dialog-body">{children}</div>
      </div>
    </dialog>
  )
}

interface ConfirmDialogProps extends FormActionsProps {
  title: string
  onClick: () => void
  onClose: () => void
}

/** Dialog that asks for confirmation; `children` state what the action changes. */
export function ConfirmDialog({ title, children, onClose, ...actions }: ConfirmDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="stack">
        {children}
        <FormActions kind="danger" {...actions} onCancel={onClose} />
      </div>
    </Dialog>
  )
}

/** Frame for content wider than the page; scrolls separately, with the keyboard, too. */
export function ScrollFrame({
  label,
  className,
  children,
}: {
  label: string
  className?: string
  children: ReactNode
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard cannot scroll the frame
    <section className={classes('table-frame', className)} tabIndex={0} aria-label={label}>
      {children}
    </section>
  )
}

/** List of names and values in two columns. */
export function Facts({ entries }: { entries: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
