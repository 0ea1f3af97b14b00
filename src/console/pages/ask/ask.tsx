import './ask.css'
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useSpace } from '../../api/space.js'
import { useRead } from '../../api/use.js'
import { pageHref, setQuery, useRoute } from '../../router.js'
import { Button, Link } from '../../ui/button.js'
import { NoSpacePage } from '../../ui/no-space.js'
import { PageHead } from '../../ui/parts.js'
import { Notice } from '../../ui/state.js'
import { type AskMode, ask, clearConversation, stopTurn, useConversation } from './conversation.js'
import { TurnView } from './turn.js'

const MAX_QUESTION_CHARS = 16_000
const MODE_OPTIONS: readonly { id: AskMode | ''; title: string }[] = [
  { id: '', title: 'Space default' },
  { id: 'auto', title: 'Auto' },
  { id: 'fast', title: 'Fast' },
  { id: 'deep', title: 'Deep' },
  { id: 'research', title: 'Research' },
]

/** Page that asks a space questions and shows answers with their evidence. */
export function Ask() {
  const selection = useSpace()
  const { space } = selection
  const { turns } = useConversation(space?.id)
  const lastTurnStart = useRef<HTMLDivElement>(null)
  const isRunning = turns.some(({ state }) => state === 'running')
  useEffect(() => {
    if (turns.length > 1) lastTurnStart.current?.scrollIntoView({ block: 'start' })
  }, [turns.length])

  if (space === undefined)
    return (
      <NoSpacePage title="Ask" selection={selection} icon="ask">
        A space answers questions. Create one and drop documents on it.
      </NoSpacePage>
    )
  return (
    <div className="ask">
      <PageHead
        title="Ask"
        lead={turns.length === 0 ? `Answers come from the documents of ${space.name}, with citations.` : undefined}
        actions={
          turns.length > 0 && (
            <Button icon="plus" small disabled={isRunning} onClick={() => clearConversation(space.id)}>
              New conversation
            </Button>
          )
        }
      />
      {turns.length === 0 && <NoDocumentsNotice space={space} />}
      <ol className="turns" aria-label="Conversation">
        {turns.map((turn, index) => (
          <li key={turn.id} className="turn">
            {index === turns.length - 1 && <div ref={lastTurnStart} className="turn-anchor" />}
            <TurnView
              turn={turn}
              space={space}
              onStop={() => stopTurn(turn)}
              onRetry={() => void ask(space.id, turn.question, turn.mode)}
            />
          </li>
        ))}
      </ol>
      <AskForm
        key={space.id}
        isFollowUp={turns.length > 0}
        isRunning={isRunning}
        onAsk={(question, mode) => void ask(space.id, question, mode)}
      />
    </div>
  )
}

/** Notice for a space without documents. */
function NoDocumentsNotice({ space: { id, slug } }: { space: KnowledgeSpace }) {
  const stats = useRead('GET /knowledge-spaces/{id}/stats', { path: { id }, query: {} })
  if (stats.data?.storage.documentCount !== 0) return null
  return (
    <div className="ask-no-documents">
      <Notice action={<Link to={pageHref('documents', [], { space: slug })}>Add documents</Link>}>
        This space has no documents yet, so no question can be answered from it.
      </Notice>
    </div>
  )
}

interface AskFormProps {
  /** whether the conversation already has a question */
  isFollowUp: boolean
  isRunning: boolean
  onAsk: (question: string, mode: AskMode | undefined) => void
}

function AskForm({ isFollowUp, isRunning, onAsk }: AskFormProps) {
  const { query } = useRoute()
  const [text, setText] = useState(query.get('q') ?? '')
  const mode = MODE_OPTIONS.find(({ id }) => id === query.get('mode'))?.id ?? ''
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus({ preventScroll: true }), [])

  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    const question = text.trim()
    if (question === '' || isRunning) return
    onAsk(question, mode === '' ? undefined : mode)
    setText('')
    // the pressed button is disabled until there is a new question
    field.current?.focus({ preventScroll: true })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault()
      submit()
    }
  }
  return (
    <form className={isFollowUp ? 'ask-form is-follow-up' : 'ask-form'} onSubmit={submit}>
      <label className="sr-only" htmlFor="question">
        Question
      </label>
      <textarea
        id="question"
        ref={field}
        className="ask-field"
        rows={isFollowUp ? 1 : 3}
        maxLength={MAX_QUESTION_CHARS}
        placeholder={isFollowUp ? 'Ask a follow-up question' : 'What do you want to know?'}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="ask-form-end">
        <label className="ask-mode small">
          <span className="faint">Mode</span>
          <select
            className="select"
            value={mode}
            onChange={(event) => setQuery({ mode: event.target.value }, { replace: true })}
          >
            {MODE_OPTIONS.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        <Button kind="primary" type="submit" disabled={isRunning || text.trim() === ''}>
          Ask
        </Button>
      </div>
    </form>
  )
}
