import type { ReactNode } from 'react'
import { Button } from './button.js'
import { Notice } from './state.js'
import { showToast } from './toast.js'

interface OneTimeSecretProps {
  kind: 'key' | 'token'
  secret: string
  children?: ReactNode
  onDone: () => void
}

/** Shows a new secret, to be copied, until the user clicks on `I have it`. */
export function OneTimeSecret({ kind, secret, children, onDone }: OneTimeSecretProps) {
  const copy = () =>
    navigator.clipboard.writeText(secret).then(
      () => showToast(`The ${kind} was copied`),
      () => showToast('The browser blocked copying: select the text and copy it manually', 'warn'),
    )
  return (
    <div className="stack">
      <Notice tone="warn">This is the only time that the {kind} is shown. Copy it now.</Notice>
      <output className="secret mono" aria-label={`The ${kind}`}>
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
