import { useState } from 'react'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { useRead, useWrite } from '../../api/use.js'
import { navigate, pageHref, setQuery, useRoute } from '../../router.js'
import { Button, Link } from '../../ui/button.js'
import { ConfirmDialog, PageHead, Tabs } from '../../ui/parts.js'
import { Badge, Loaded, Notice } from '../../ui/state.js'
import { AccessTab } from './access.js'
import { Annotations } from './annotations.js'
import { EditApp } from './app-form.js'
import { getOwnerClient } from './client.js'
import { Conversations } from './conversations.js'
import { Feedback } from './feedback.js'
import { TryConversation } from './try-conversation.js'

const TABS = [
  { id: 'try', title: 'Try it' },
  { id: 'conversations', title: 'Conversations' },
  { id: 'annotations', title: 'Annotations' },
  { id: 'feedback', title: 'Feedback' },
  { id: 'reach', title: 'Keys and page' },
  { id: 'settings', title: 'Settings and prices' },
] as const

/** Page of one application. */
export function Application({ appId }: { appId: string }) {
  const app = useRead('GET /chat-apps/{appId}', { path: { appId } })
  return (
    <>
      <Link className="small" to={pageHref('chat')}>
        All applications
      </Link>
      <Loaded query={app}>{(data) => <ApplicationView app={data} />}</Loaded>
    </>
  )
}

function ApplicationView({ app }: { app: ChatApp }) {
  const { query } = useRoute()
  const tab = TABS.find(({ id }) => id === query.get('tab'))?.id ?? 'try'
  const [isRemoving, setRemoving] = useState(false)
  const client = getOwnerClient(app.id)
  return (
    <>
      <PageHead
        title={app.name}
        lead={app.description === '' ? undefined : app.description}
        actions={
          <Button small kind="danger" icon="trash" onClick={() => setRemoving(true)}>
            Delete
          </Button>
        }
      />
      <Tabs label="Application" tabs={TABS} value={tab} onChange={(id) => setQuery({ tab: id })} />
      {!app.enabled && tab !== 'settings' && tab !== 'reach' ? (
        <Notice tone="warn">
          <Badge tone="warn">disabled</Badge> It refuses all requests until it is enabled in its settings.
        </Notice>
      ) : (
        <>
          {tab === 'try' && <TryConversation app={app} client={client} />}
          {tab === 'conversations' && <Conversations client={client} appId={app.id} />}
          {tab === 'annotations' && <Annotations client={client} appId={app.id} />}
          {tab === 'feedback' && <Feedback client={client} appId={app.id} />}
        </>
      )}
      {tab === 'reach' && <AccessTab app={app} />}
      {tab === 'settings' && <EditApp key={app.updatedAt} app={app} />}
      {isRemoving && <RemoveApplication app={app} onClose={() => setRemoving(false)} />}
    </>
  )
}

function RemoveApplication({ app, onClose }: { app: ChatApp; onClose: () => void }) {
  const remove = useWrite('DELETE /chat-apps/{appId}', ['GET /chat-apps'])
  return (
    <ConfirmDialog
      title={`Delete ${app.name}?`}
      mutation={remove}
      label="Delete"
      icon="trash"
      onClick={() => remove.mutate({ path: { appId: app.id } }, { onSuccess: () => navigate(pageHref('chat')) })}
      onClose={onClose}
    >
      <p>
        Its keys, conversations, annotations and feedback are deleted, and programs with its keys are refused. The
        spaces are kept. This cannot be undone.
      </p>
    </ConfirmDialog>
  )
}
