import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import type { ChatClient, ConversationPage, MessagePage } from '../../chat/client.js'
import { toTurn } from '../../chat/turn.js'
import { TurnView } from '../../chat/turn-view.js'
import { Button } from '../../ui/button.js'
import { TextField } from '../../ui/fields.js'
import { Dialog, FormActions } from '../../ui/parts.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Empty, Loaded } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'
import { OWNER_STYLE } from './turn-style.js'

/** Conversations of an end user of the application; those of this console if no user is named. */
export function Conversations({ client, appId }: { client: ChatClient; appId: string }) {
  const [user, setUser] = useState('')
  const [opened, setOpened] = useState<{ id: string; name: string }>()
  const conversations = useQuery({
    queryKey: ['chat', appId, 'conversations', user],
    queryFn: async () => {
      const owner = user === '' ? await client.user() : user
      return { owner, ...(await client.read<ConversationPage>('/conversations', { user: owner, limit: '100' })) }
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setUser(String(new FormData(event.currentTarget).get('user') ?? '').trim())
  }
  return (
    <div className="stack">
      <form className="row chat-user" onSubmit={submit}>
        <TextField
          label="End user"
          hint="Empty: conversations of this page. Otherwise the user id that programs send."
          name="user"
          maxLength={1000}
        />
        <Button type="submit">Show</Button>
      </form>
      <Loaded query={conversations} lines={5}>
        {({ data, owner, has_more }) =>
          data.length === 0 ? (
            <Empty icon="chat" title="No conversations" />
          ) : (
            <>
              <ul className="panel chat-list">
                {data.map(({ id, name, updated_at }) => (
                  <li key={id} className="chat-line">
                    <button type="button" className="chat-open wrap" onClick={() => setOpened({ id, name })}>
                      {name}
                    </button>
                    <span className="small faint">
                      <RelativeTime time={updated_at * 1000} />
                    </span>
                  </li>
                ))}
              </ul>
              {has_more && <p className="small faint">The 100 newest.</p>}
              {opened !== undefined && (
                <ConversationDialog
                  {...opened}
                  client={client}
                  appId={appId}
                  user={owner}
                  onClose={() => setOpened(undefined)}
                />
              )}
            </>
          )
        }
      </Loaded>
    </div>
  )
}

interface ConversationDialogProps {
  id: string
  name: string
  client: ChatClient
  appId: string
  user: string
  onClose: () => void
}

function ConversationDialog({ id, name, client, appId, user, onClose }: ConversationDialogProps) {
  const queryClient = useQueryClient()
  const messages = useQuery({
    queryKey: ['chat', appId, 'messages', id],
    queryFn: () => client.read<MessagePage>('/messages', { conversation_id: id, user, limit: '100' }),
  })
  const remove = useMutation({
    mutationFn: () => client.change('DELETE', `/conversations/${id}`, { user }),
    onSuccess: () => {
      showToast('The conversation was deleted')
      onClose()
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['chat', appId, 'conversations'] }),
  })
  return (
    <Dialog side title={name} onClose={onClose}>
      <div className="stack">
        <Loaded query={messages} lines={6}>
          {({ data, has_more }) => (
            <>
              {has_more && <p className="small faint">The 100 newest messages.</p>}
              <ol className="talk-turns">
                {data.map((message) => (
                  <li key={message.id}>
                    <TurnView turn={toTurn(message)} style={OWNER_STYLE} />
                  </li>
                ))}
              </ol>
            </>
          )}
        </Loaded>
        <FormActions
          mutation={remove}
          label="Delete this conversation"
          kind="danger"
          icon="trash"
          onClick={() => remove.mutate()}
        />
      </div>
    </Dialog>
  )
}
