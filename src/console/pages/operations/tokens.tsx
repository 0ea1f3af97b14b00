import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { send } from '../../api/client.js'
import { isRecord } from '../../api/session.js'
import { useWrite } from '../../api/use.js'
import { NumberField, SelectField, TextField } from '../../ui/fields.js'
import { formatMoment } from '../../ui/format.js'
import { OneTimeSecret } from '../../ui/one-time-secret.js'
import { FormActions, Panel } from '../../ui/parts.js'
import { showToast } from '../../ui/toast.js'

interface SignedToken {
  token: string
  /** id of the token */
  jti: string
  expiresAt: string
}

/** Tab that creates tokens for programs and revokes them by id. A token is shown once and stored nowhere. */
export function Tokens() {
  return (
    <div className="stack">
      <NewToken />
      <RevokeToken />
    </div>
  )
}

function NewToken() {
  const [created, setCreated] = useState<SignedToken>()
  const create = useMutation({ mutationFn: createToken, onSuccess: setCreated })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    create.mutate({
      subject: String(data.get('subject') ?? ''),
      write: data.get('scope') === 'write',
      days: Number(data.get('days')),
    })
  }
  return (
    <Panel title="New token">
      {created !== undefined ? (
        <OneTimeSecret
          kind="token"
          secret={created.token}
          onDone={() => {
            setCreated(undefined)
            create.reset()
          }}
        >
          <p className="muted">
            Valid until {formatMoment(created.expiresAt)}. Its id is <code className="wrap">{created.jti}</code>: with
            it the token is revoked below, or by <code>ks auth token --revoke</code>.
          </p>
        </OneTimeSecret>
      ) : (
        <form className="stack" onSubmit={submit}>
          <p className="muted">
            For a program that calls the API: in the header <code>Authorization: Bearer …</code>. It is shown once, and
            the daemon keeps no list of tokens. A token of the operator is created with <code>ks auth token</code> only.
            A token created in a tab of <code>ks console</code> expires with the session of the tab, after 12 hours at
            most.
          </p>
          <div className="field-row">
            <TextField
              label="For"
              hint="Subject of the token; sources and chat applications belong to a subject."
              name="subject"
              required
              maxLength={200}
              placeholder="ci"
            />
            <SelectField label="May" name="scope" defaultValue="read">
              <option value="read">read and ask</option>
              <option value="write">read, ask and change</option>
            </SelectField>
            <NumberField label="Days of validity" name="days" min={1} max={90} defaultValue={30} required />
          </div>
          <FormActions mutation={create} label="Create token" />
        </form>
      )}
    </Panel>
  )
}

function RevokeToken() {
  const revoke = useWrite('DELETE /daemon/tokens/{jti}')
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const jti = String(new FormData(form).get('jti') ?? '').trim()
    const onRevoked = () => {
      showToast('The token was revoked')
      form.reset()
    }
    revoke.mutate({ path: { jti } }, { onSuccess: onRevoked })
  }
  return (
    <Panel title="Revoke a token">
      <form className="stack" onSubmit={submit}>
        <TextField
          label="Token id"
          hint="The claim jti, shown when the token is created. Revoking is final."
          className="mono"
          name="jti"
          required
          maxLength={200}
          autoComplete="off"
        />
        <FormActions mutation={revoke} label="Revoke" kind="danger" />
      </form>
    </Panel>
  )
}

async function createToken(request: { subject: string; write: boolean; days: number }): Promise<SignedToken> {
  const response = await send('/daemon/console/tokens', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  const body: unknown = await response.json()
  const { token, jti, expiresAt } = isRecord(body) ? body : {}
  if (typeof token !== 'string' || typeof jti !== 'string' || typeof expiresAt !== 'string')
    throw new Error('the daemon sent no token')
  return { token, jti, expiresAt }
}
