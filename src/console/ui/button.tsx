import type { ComponentPropsWithRef, MouseEvent } from 'react'
import { navigate } from '../router.js'
import { Icon, type IconName } from './icon.js'

interface ButtonStyle {
  /** primary: main action of the page; quiet: without a frame; danger: irreversible */
  kind?: 'primary' | 'plain' | 'quiet' | 'danger'
  icon?: IconName
  small?: boolean
}

type ButtonProps = ButtonStyle & ComponentPropsWithRef<'button'> & { busy?: boolean }

export function Button({
  kind = 'plain',
  icon,
  small = false,
  busy = false,
  className,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      // a busy button keeps the focus; a disabled one would lose it
      onClick={busy ? (event) => event.preventDefault() : onClick}
      className={classes('button', `button-${kind}`, small && 'button-small', className)}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
    >
      {icon !== undefined && <Icon name={icon} size={small ? 16 : 18} />}
      {children}
    </button>
  )
}

/** Button that shows only an icon; `label` is its accessible name and tooltip. */
export function IconButton({ icon, label, className, ...rest }: { icon: IconName; label: string } & ButtonProps) {
  return (
    <button type="button" {...rest} className={classes('icon-button', className)} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  )
}

/** Link to a page of the console; navigates without reloading. */
export function Link({ to, onClick, ...rest }: { to: string } & Omit<ComponentPropsWithRef<'a'>, 'href'>) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    const asNewTab = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0
    if (event.defaultPrevented || asNewTab) return
    event.preventDefault()
    navigate(to)
  }
  return <a {...rest} href={to} onClick={follow} />
}

export function classes(...names: (string | false | undefined)[]): string {
  return names.filter((name) => typeof name === 'string' && name !== '').join(' ')
}
