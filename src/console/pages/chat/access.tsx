import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { send } from '../../api/client.js'
import { isRecord } from '../../api/session.js'
import { useRead, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatMoment } from '../../ui/format.js'
import { OneTimeSecret } from '../../ui/one-time-secret.js'
import { Panel } from '../../ui/parts.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Badge, Loaded, Notice } from '../../ui/state.js'
import { showError, showToast } from '../../ui/toast.js'

const KEYS = 'GET /chat-apps/{appId}/keys'

/** Tab of the keys and the public page of an application. */
export function AccessTab({ app }: { app: ChatApp }) {
  return (
    <div className="stack">
      <AppKeys appId={app.id} />
      <AppPage app={app} />
    </div>
  )
}

function AppKeys({ appId }: { appId: string }) {
  const [newKey, setNewKey] = useState<string>()
  const keys = useRead(KEYS, { path: { appId } })
  const create = useWrite('POST /chat-apps/{appId}/keys', [KEYS])
  const revoke = useWrite('DELETE /chat-apps/{appId}/keys/{keyId}', [KEYS])
  const createKey = () =>
    create.mutate({ path: { appId } }, { onSuccess: ({ key }) => setNewKey(key ?? undefined), onError: showError })
  return (
    <Panel
      title="Keys"
      actions={
        <Button small icon="plus" busy={create.isPending} onClick={createKey}>
          New key
        </Button>
      }
    >
      <div className="stack">
        <p className="muted">
          For programs that call <code>{location.origin}/v1</code>. Keep keys on servers: a key permits everything in
          the application, on behalf of any end user.
        </p>
        {newKey !== undefined && (
          <OneTimeSecret
            kind="key"
            secret={newKey}
            onDone={() => {
              setNewKey(undefined)
              create.reset()
            }}
          />
        )}
        <Loaded query={keys}>
          {({ items }) => (
            <ul className="chat-list">
              {items.map(({ id, hint, createdAt, revokedAt }) => (
                <li key={id} className="chat-line">
                  <span className="row">
                    <span className="mono">…{hint}</span>
                    <span className="small faint" title={formatMoment(createdAt)}>
                      created <RelativeTime time={createdAt} />
                    </span>
                  </span>
                  {revokedAt === null ? (
                    <Button
                      small
                      kind="danger"
                      onClick={() => revoke.mutate({ path: { appId, keyId: id } }, { onError: showError })}
                      aria-label={`Revoke the key that ends in ${hint}`}
                    >
                      Revoke
                    </Button>
                  ) : (
                    <Badge tone="bad">revoked</Badge>
                  )}
                </li>
              ))}
            </ul>
          )}
        </Loaded>
      </div>
    </Panel>
  )
}

function AppPage({ app }: { app: ChatApp }) {
  const pageState = useQuery({ queryKey: ['chat', app.id, 'page'], queryFn: () => fetchPageState(app.id) })
  return <Loaded query={pageState}>{(state) => <PagePanel appId={app.id} {...state} />}</Loaded>
}

function PagePanel({ appId, isOn, frames }: AppPageState & { appId: string }) {
  const url = `${location.origin}/chat/${appId}`
  const snippet = `<iframe src="${url}" title="Chat" width="400" height="600"></iframe>`
  const copy = () =>
    navigator.clipboard.writeText(snippet).then(
      () => showToast('The snippet was copied'),
      () => showToast('The browser blocked copying: select the text and copy it manually', 'warn'),
    )
  return (
    <Panel title="Web page" actions={<Badge tone={isOn ? 'good' : 'neutral'}>{isOn ? 'on' : 'off'}</Badge>}>
      <div className="stack">
        {isOn ? (
          <>
            <p>
              <a className="mono wrap" href={url} target="_blank" rel="noreferrer">
                {url}
              </a>
            </p>
            <p className="muted">
              Anyone who can reach the daemon may use the page, each with their own conversations and within request
              limits. The page contains no key.
            </p>
            {frames.length === 0 ? (
              <Notice>
                No site may embed the page yet: the operator lists them in the setting <code>chatPageFrames</code>.
              </Notice>
            ) : (
              <>
                <p className="muted">
                  In a page of <span className="mono wrap">{frames.join(', ')}</span>:
                </p>
                <pre className="secret mono">{snippet}</pre>
                <div className="row">
                  <Button small onClick={copy}>
                    Copy the snippet
                  </Button>
                </div>
              </>
            )}
          </>
        ) : (
          <Notice>
            It is off. The operator of the daemon switches it on with the setting <code>chatPages</code> in{' '}
            <code>config.json</code> of the data directory, then <code>ks daemon restart</code>:{' '}
            <code className="wrap">{`"chatPages": ["${appId}"]`}</code>. Anyone who can reach the daemon may then chat
            with this application without a key.
          </Notice>
        )}
      </div>
    </Panel>
  )
}

interface AppPageState {
  isOn: boolean
  /** sites that may embed the page */
  frames: readonly string[]
}

/** Requests the state instead of the page itself: browsers log each missing page as an error. */
async function fetchPageState(appId: string): Promise<AppPageState> {
  const response = await send(`/daemon/console/chats/${encodeURIComponent(appId)}/page`, { method: 'GET' })
  const body: unknown = await response.json()
  if (!isRecord(body) || typeof body.isOn !== 'boolean' || !Array.isArray(body.frames))
    throw new Error('the daemon sent no page state')
  return { isOn: body.isOn, frames: body.frames.map(String) }
}
