import type { ReactNode } from 'react'
import { Button } from './button.js'
import { Notice } from './state.js'
import { showToast } from './toast.js'

/** Shows a new secret once, to be copied; the next click hides it. */
export function OneTimeSecret({
  what,
  secret,
  children,
  onDone,
}: {
  what: string
  secret: string
  children?: ReactNode
  onDone: () => void
}) {
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => showToast(`The ${what} was copied`),
      () => showToast('The browser blocked copying: select the text and copy it manually', 'warn'),
    )
  return (
    <div className="stack">
      <Notice tone="warn">This is the only time that the {what} is shown. Copy it now.</Notice>
      <output className="secret mono" aria-label={`The ${what}`}>
        {secret}
      </output>
      {children}
      <div className="row form-end">
        <Button onClick={copy}>Copy</Button>
        <Button kind="primary" onClick={onDone}>
          I have it
        </Button>
      </div>
    </div>
  )
}
