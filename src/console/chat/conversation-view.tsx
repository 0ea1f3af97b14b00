import './conversation.css'
import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from 'react'
import type { InputControl } from '../../contract/chat/application.js'
import { type TurnStyle, TurnView } from './turn-view.js'
import type { AppConversation } from './use-conversation.js'

interface ConversationViewProps {
  conversation: AppConversation
  /** what the application answers from; empty for none */
  overview: string
  /** the application's opening message; empty for none */
  opening: string
  suggestedQuestions: readonly string[]
  /** variables of the application, filled in before the first message */
  controls: readonly InputControl[]
  style: TurnStyle & { placeholder: string; maxQuestionLength?: number }
}

/** Conversation with an application: opening, turns, suggested questions, variables and the next question. */
export function ConversationView(props: ConversationViewProps) {
  const { conversation, overview, opening, suggestedQuestions, controls, style } = props
  const { turns, isRunning, conversationId } = conversation
  const [question, setQuestion] = useState('')
  const variables = useRef<HTMLFormElement>(null)
  const last = turns.at(-1)
  const suggested = last === undefined ? suggestedQuestions : last.state === 'done' ? last.suggested : []
  const ask = (text: string) => {
    if (text.trim() === '' || isRunning) return
    if (conversationId === undefined && variables.current?.reportValidity() === false) return
    setQuestion('')
    conversation.ask(text.trim(), readVariables(variables.current))
  }
  return (
    <div className="talk">
      {overview !== '' && <p className="small muted">{overview}</p>}
      {opening !== '' && <p className="talk-opening">{opening}</p>}
      {controls.length > 0 && (
        <form
          ref={variables}
          className="talk-variables"
          hidden={isRunning || conversationId !== undefined}
          onSubmit={(event) => event.preventDefault()}
        >
          {controls.flatMap((control) =>
            Object.values(control).map((variable) => <VariableField key={variable.variable} {...variable} />),
          )}
        </form>
      )}
      <ol className="talk-turns">
        {turns.map((turn, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: turns are only appended
          <li key={index}>
            <TurnView turn={turn} style={style} rate={(rating, remark) => conversation.rate(index, rating, remark)} />
          </li>
        ))}
      </ol>
      {suggested.length > 0 && (
        <ul className="row" aria-label="Suggested questions">
          {suggested.map((text) => (
            <li key={text}>
              <button type="button" className="button button-small talk-suggestion" onClick={() => ask(text)}>
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
      <QuestionForm
        text={question}
        setText={setQuestion}
        isRunning={isRunning}
        ask={ask}
        stop={conversation.stop}
        style={style}
      />
    </div>
  )
}

interface QuestionFormProps {
  text: string
  setText: (text: string) => void
  isRunning: boolean
  ask: (text: string) => void
  stop: () => void
  style: ConversationViewProps['style']
}

function QuestionForm({ text, setText, isRunning, ask, stop, style }: QuestionFormProps) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    ask(text)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    ask(text)
  }
  return (
    <form className="talk-form" onSubmit={submit}>
      <textarea
        className="textarea"
        aria-label="Message"
        placeholder={style.placeholder}
        maxLength={style.maxQuestionLength}
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isRunning ? (
        <button type="button" className="button" onClick={stop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="button button-primary" disabled={text.trim() === ''}>
          Send
        </button>
      )}
    </form>
  )
}

interface VariableFieldProps {
  label: string
  /** name of the variable */
  variable: string
  required: boolean
  default?: string | undefined
  /** values to choose from; absent for a text */
  options?: readonly string[]
}

function VariableField({ label, variable, required, default: initialValue = '', options }: VariableFieldProps) {
  const id = useId()
  const attributes = { id, name: variable, required, defaultValue: initialValue }
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {options === undefined ? (
        <input {...attributes} className="input" />
      ) : (
        <select {...attributes} className="select">
          <option value="" />
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </select>
      )}
    </div>
  )
}

/** Reads the values by variable; empty ones are omitted. */
function readVariables(form: HTMLFormElement | null): Record<string, string> {
  if (form === null) return {}
  const entries = [...new FormData(form)].map(([name, value]) => [name, String(value)] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== ''))
}
