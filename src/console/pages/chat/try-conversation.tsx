import { useEffect, useState } from 'react'
import type { ChatInfo, ChatParameters } from '../../../contract/chat/application.js'
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
  const { overview, questions } = useOpening(client)
  return (
    <div className="stack">
      <ConversationView
        conversation={conversation}
        overview={overview}
        opening={app.openingStatement}
        suggestedQuestions={questions}
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

/** Loads what the application answers from, and the questions that it suggests. */
function useOpening(client: ChatClient): { overview: string; questions: readonly string[] } {
  const [overview, setOverview] = useState('')
  const [questions, setQuestions] = useState<readonly string[]>([])
  useEffect(() => {
    const load = async () => {
      const user = await client.user()
      setOverview((await client.read<ChatInfo>('/info')).overview)
      setQuestions((await client.read<ChatParameters>('/parameters', { user })).suggested_questions)
    }
    load().catch(showError)
  }, [client])
  return { overview, questions }
}
