import '../../style/forms.css'
import './chat.css'
import { useState } from 'react'
import { useRead } from '../../api/use.js'
import { pageHref, useRoute } from '../../router.js'
import { Button, Link } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { PageHead } from '../../ui/parts.js'
import { Badge, Empty, Loaded } from '../../ui/state.js'
import { NewApp } from './app-form.js'
import { Application } from './application.js'

/** Page of the chat applications, or of one of them. */
export function Chat() {
  const { rest } = useRoute()
  const [appId] = rest
  return appId === undefined ? <Applications /> : <Application key={appId} appId={appId} />
}

function Applications() {
  const apps = useRead('GET /chat-apps', {})
  const [isNew, setNew] = useState(false)
  const create = (
    <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
      New application
    </Button>
  )
  return (
    <>
      <PageHead
        title="Chat"
        lead="Applications that answer from spaces, for your users and programs."
        actions={(apps.data?.items.length ?? 0) > 0 && create}
      />
      <Loaded query={apps} lines={6}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="chat" title="No applications yet">
              <p>An application answers from selected spaces: here, over HTTP with a key, or on its own web page.</p>
              {create}
            </Empty>
          ) : (
            <ul className="chat-apps">
              {items.map(({ id, name, description, enabled, mode, knowledgeSpaceIds }) => (
                <li key={id} className="panel chat-app">
                  <h2 className="wrap">
                    <Link to={pageHref('chat', [id])}>{name}</Link>
                  </h2>
                  {description !== '' && <p className="muted wrap">{description}</p>}
                  <p className="row">
                    <Badge tone={enabled ? 'good' : 'warn'}>{enabled ? 'enabled' : 'disabled'}</Badge>
                    {mode === 'agent-chat' && <Badge tone="accent">agent</Badge>}
                    <span className="small faint">{plural(knowledgeSpaceIds.length, 'space')}</span>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {isNew && <NewApp onClose={() => setNew(false)} />}
    </>
  )
}
