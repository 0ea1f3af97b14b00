import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { messageOf } from '../../api/client.js'
import { useRead, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatAgo, formatMoment } from '../../ui/format.js'
import { Panel } from '../../ui/parts.js'
import { ShownOnce } from '../../ui/shown-once.js'
import { Badge, Loaded, Notice, Skeleton } from '../../ui/state.js'
import { say } from '../../ui/toast.js'

const KEYS = 'GET /chat-apps/{appId}/keys'

/** How programs and visitors come to the application. */
export function Reach({ app }: { app: ChatApp }) {
  return (
    <div className="stack">
      <Keys appId={app.id} />
      <Page app={app} />
    </div>
  )
}

function Keys({ appId }: { appId: string }) {
  const [made, setMade] = useState<string>()
  const keys = useRead(KEYS, { path: { appId } })
  const create = useWrite('POST /chat-apps/{appId}/keys', [KEYS])
  const revoke = useWrite('DELETE /chat-apps/{appId}/keys/{keyId}', [KEYS])
  const told = { onError: (error: unknown) => say(messageOf(error), 'bad') }
  const make = () => create.mutate({ path: { appId } }, { onSuccess: ({ key }) => setMade(key ?? undefined), ...told })
  return (
    <Panel
      title="Keys"
      actions={
        <Button small icon="plus" busy={create.isPending} onClick={make}>
          New key
        </Button>
      }
    >
      <div className="stack">
        <p className="muted">
          For programs of yours that speak to <code>{location.origin}/v1</code>. A key stays on servers: it may do
          everything in the application, in the name of every end user.
        </p>
        {made !== undefined && (
          <ShownOnce
            what="key"
            secret={made}
            onDone={() => {
              setMade(undefined)
              create.reset()
            }}
          />
        )}
        <Loaded of={keys}>
          {({ items }) => (
            <ul className="chat-list">
              {items.map(({ id, hint, createdAt, revokedAt }) => (
                <li key={id} className="chat-line">
                  <span className="row">
                    <span className="mono">…{hint}</span>
                    <span className="small faint" title={formatMoment(createdAt)}>
                      made {formatAgo(createdAt)}
                    </span>
                  </span>
                  {revokedAt === null ? (
                    <Button
                      small
                      kind="danger"
                      onClick={() => revoke.mutate({ path: { appId, keyId: id } }, told)}
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

function Page({ app }: { app: ChatApp }) {
  const there = useQuery({
    queryKey: ['chat', app.id, 'page'],
    queryFn: async () => {
      const { status, headers } = await fetch(`/chat/${app.id}`, { method: 'HEAD', cache: 'no-store' })
      const frames = /frame-ancestors ([^;]*)/.exec(headers.get('content-security-policy') ?? '')?.[1]
      return { isThere: status === 200, frames: frames === "'none'" ? undefined : frames }
    },
  })
  const url = `${location.origin}/chat/${app.id}`
  if (there.data === undefined) return <Skeleton />
  const { isThere, frames } = there.data
  return (
    <Panel
      title="A page of its own"
      actions={<Badge tone={isThere ? 'good' : 'neutral'}>{isThere ? 'on' : 'off'}</Badge>}
    >
      <div className="stack">
        {isThere ? (
          <>
            <p>
              <a className="mono wrap" href={url} target="_blank" rel="noreferrer">
                {url}
              </a>
            </p>
            <p className="muted">
              Anybody who reaches the daemon may speak with it there, each with their own conversations and within
              limits of requests. No key is in the page.
            </p>
            {frames === undefined ? (
              <Notice>
                No site may show it in a frame yet: the operator names them with the setting <code>chatPageFrames</code>
                .
              </Notice>
            ) : (
              <>
                <p className="muted">
                  In a page of <span className="mono wrap">{frames}</span>:
                </p>
                <pre className="secret mono">{`<iframe src="${url}" title="Chat" width="400" height="600"></iframe>`}</pre>
              </>
            )}
          </>
        ) : (
          <Notice>
            It is off. The operator of the daemon switches it on with the setting <code>chatPages</code> in{' '}
            <code>config.json</code> of the data directory, then <code>ks daemon restart</code>:{' '}
            <code className="wrap">{`"chatPages": ["${app.id}"]`}</code>. Anybody who reaches the daemon may then speak
            with this application without a key.
          </Notice>
        )}
      </div>
    </Panel>
  )
}
