import { type FormEvent, useState } from 'react'
import { checkToken, messageOf, RequestError } from '../api/client.js'
import { session, signIn } from '../api/session.js'
import { Button } from '../ui/button.js'
import { TextField } from '../ui/fields.js'
import { Icon } from '../ui/icon.js'
import { Notice } from '../ui/state.js'

const HINT = (
  <>
    Kept for this tab only. <code>ks auth token</code> creates one.
  </>
)

/** Page without a session: a token field, and how to sign in without a token. */
export function SignIn({ problem }: { problem: string | undefined }) {
  const [token, setToken] = useState('')
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    const trimmed = token.trim()
    if (trimmed === '') return setError('Paste the token here.')
    setBusy(true)
    setError(undefined)
    try {
      await checkToken(trimmed)
      signIn(trimmed)
    } catch (reason) {
      const isRefused = reason instanceof RequestError && reason.status === 401
      setError(isRefused ? 'The token is invalid or has expired.' : messageOf(reason))
      setBusy(false)
    }
  }

  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={(event) => void submit(event)}>
        <span className="sign-in-mark">
          <Icon name="lock" size={26} />
        </span>
        <h1>Knowledge Spaces</h1>
        {problem !== undefined && <Notice tone="warn">{problem}</Notice>}
        {problem === undefined && session.hasEnded() && (
          <Notice tone="warn">The session of this tab has ended. Sign in to go on where you were.</Notice>
        )}
        {isLocal && (
          <p className="sign-in-lead">
            Run <code>ks console</code> in a terminal: it opens this page, signed in. Or use a token.
          </p>
        )}
        <TextField
          label="Token"
          error={error}
          hint={HINT}
          className="mono"
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={token}
          onChange={(event) => setToken(event.target.value)}
        />
        <Button kind="primary" type="submit" busy={isBusy}>
          Sign in
        </Button>
      </form>
    </main>
  )
}
