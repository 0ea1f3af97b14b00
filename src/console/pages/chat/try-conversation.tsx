import type { ChatApp } from '../../../contract/chat/apps.js'
import type { ChatClient } from '../../chat/client.js'
import { ConversationView } from '../../chat/conversation-view.js'
import { useAppConversation } from '../../chat/use-conversation.js'
import { Button } from '../../ui/button.js'
import { showError } from '../../ui/toast.js'
import { OWNER_STYLE } from './turn-style.js'

const STYLE = { ...OWNER_STYLE, placeholder: 'Ask the application' }

/** Conversation with an application, as its users have it. */
export function TryConversation({ app, client }: { app: ChatApp; client: ChatClient }) {
  const conversation = useAppConversation({
    client,
    withSuggestions: app.suggestedQuestionsAfterAnswer,
    onError: showError,
  })
  return (
    <div className="stack">
      <ConversationView
        conversation={conversation}
        opening={app.openingStatement}
        suggestedQuestions={app.suggestedQuestions}
        controls={app.userInputForm}
        style={STYLE}
      />
      {conversation.turns.length > 0 && !conversation.isRunning && (
        <Button small kind="quiet" icon="plus" onClick={conversation.restart}>
          New conversation
        </Button>
      )}
    </div>
  )
}
