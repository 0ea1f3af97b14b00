import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { messageOf } from '../../api/client.js'
import type { ChatClient } from '../../chat/client.js'
import { rateTurn, runTurn, stopTurn, type TurnProgress } from '../../chat/turn.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/parts.js'
import { Badge, Notice } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'
import { AnswerText } from '../ask/answer-text.js'
import { AnswerSources } from './answer-sources.js'
import { type RateAnswer, TurnFooter } from './turn-footer.js'

/** Conversation with an application, as its users have it. */
export function TryConversation({ app, client }: { app: ChatApp; client: ChatClient }) {
  const [turns, setTurns] = useState<readonly TurnProgress[]>([])
  const [question, setQuestion] = useState('')
  const [inputs, setInputs] = useState<Record<string, string>>({})
  const controller = useRef<AbortController>(undefined)
  const last = turns.at(-1)
  const isRunning = last?.state === 'running'
  useEffect(() => () => controller.current?.abort(), [])

  const setTurn = (index: number, turn: TurnProgress) =>
    setTurns((current) => [...current.slice(0, index), turn, ...current.slice(index + 1)])
  const ask = (text: string) => {
    if (text.trim() === '' || isRunning) return
    const index = turns.length
    const abortController = new AbortController()
    controller.current = abortController
    setQuestion('')
    const request = {
      client,
      question: text.trim(),
      conversationId: last?.conversationId,
      inputs: { ...defaultValues(app), ...inputs },
      withSuggestions: app.suggestedQuestionsAfterAnswer,
      signal: abortController.signal,
    }
    void runTurn(request, (turn) => setTurn(index, turn))
  }
  const stop = () => {
    if (last !== undefined) stopTurn(client, last).catch((error: unknown) => showToast(messageOf(error), 'bad'))
  }
  const rate = async (index: number, rating: TurnProgress['rating'], remark?: string) => {
    const turn = turns[index]
    if (turn === undefined) return
    const { rating: _, ...rest } = turn
    try {
      await rateTurn(client, turn, rating, remark)
      setTurn(index, rating === undefined ? rest : { ...rest, rating })
      if (remark !== undefined) showToast('The remark is listed under Feedback.')
    } catch (error) {
      showToast(messageOf(error), 'bad')
    }
  }
  const suggested = turns.length === 0 ? app.suggestedQuestions : last?.state === 'done' ? last.suggested : []
  return (
    <div className="talk">
      {app.openingStatement !== '' && <p className="talk-opening">{app.openingStatement}</p>}
      {turns.length === 0 && <VariableFields app={app} values={inputs} onChange={setInputs} />}
      <ol className="talk-turns">
        {turns.map((turn, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: turns are only appended
          <li key={index}>
            <ChatTurnView turn={turn} rate={(rating, remark) => rate(index, rating, remark)} />
          </li>
        ))}
      </ol>
      {suggested.length > 0 && (
        <ul className="row" aria-label="Suggested questions">
          {suggested.map((text) => (
            <li key={text}>
              <Button small onClick={() => ask(text)}>
                {text}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <MessageForm text={question} setText={setQuestion} isRunning={isRunning} ask={ask} stop={stop} />
      {turns.length > 0 && !isRunning && (
        <Button small kind="quiet" icon="plus" onClick={() => setTurns([])}>
          New conversation
        </Button>
      )}
    </div>
  )
}

function MessageForm({
  text,
  setText,
  isRunning,
  ask,
  stop,
}: {
  text: string
  setText: (text: string) => void
  isRunning: boolean
  ask: (text: string) => void
  stop: () => void
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault()
    ask(text)
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    ask(text)
  }
  return (
    <form className="talk-form" onSubmit={submit}>
      <textarea
        className="textarea"
        aria-label="Message"
        placeholder="Ask the application"
        rows={2}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
      />
      {isRunning ? (
        <Button icon="stop" onClick={stop}>
          Stop
        </Button>
      ) : (
        <Button kind="primary" type="submit" disabled={text.trim() === ''}>
          Send
        </Button>
      )}
    </form>
  )
}

function ChatTurnView({ turn, rate }: { turn: TurnProgress; rate: RateAnswer }) {
  const { state, sources, steps } = turn
  const [cited, setCited] = useState<number>()
  return (
    <article className="talk-turn">
      <p className="talk-question wrap">{turn.question}</p>
      {steps.length > 0 && (
        <details className="small muted">
          <summary>{steps.length === 1 ? '1 step' : `${steps.length} steps`}</summary>
          <ul>
            {steps.map((step, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: steps are only appended
              <li key={at} className="mono wrap">
                {step}
              </li>
            ))}
          </ul>
        </details>
      )}
      {turn.answer === '' && state === 'running' ? (
        <p className="muted">Searching…</p>
      ) : (
        <AnswerText
          text={turn.answer}
          isRunning={state === 'running'}
          onCite={setCited}
          {...(state === 'running' ? {} : { itemCount: sources.length })}
        />
      )}
      {state === 'stopped' && <Badge tone="warn">stopped</Badge>}
      {turn.error !== undefined && <Notice tone="bad">{turn.error}</Notice>}
      {turn.degraded?.map((reason) => (
        <Notice key={reason} tone="warn">
          {reason}
        </Notice>
      ))}
      <AnswerSources sources={sources} cited={cited} />
      {state !== 'running' && <TurnFooter turn={turn} rate={rate} />}
    </article>
  )
}

function VariableFields({
  app,
  values,
  onChange,
}: {
  app: ChatApp
  values: Record<string, string>
  onChange: (values: Record<string, string>) => void
}) {
  if (app.userInputForm.length === 0) return null
  const defaults = defaultValues(app)
  return (
    <div className="field-row">
      {app.userInputForm.flatMap((form) =>
        Object.values(form).map((control) => (
          <Field key={control.variable} label={control.label}>
            {(given) => {
              const value = values[control.variable] ?? defaults[control.variable] ?? ''
              const change = (next: string) => onChange({ ...values, [control.variable]: next })
              return 'options' in control ? (
                <select {...given} className="select" value={value} onChange={(event) => change(event.target.value)}>
                  <option value="" />
                  {control.options.map((option: string) => (
                    <option key={option}>{option}</option>
                  ))}
                </select>
              ) : (
                <input {...given} className="input" value={value} onChange={(event) => change(event.target.value)} />
              )
            }}
          </Field>
        )),
      )}
    </div>
  )
}

function defaultValues({ userInputForm }: ChatApp): Record<string, string> {
  return Object.fromEntries(
    userInputForm.flatMap((form) =>
      Object.values(form).flatMap((control) =>
        control.default === undefined ? [] : [[control.variable, control.default]],
      ),
    ),
  )
}
