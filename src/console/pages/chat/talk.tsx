import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react'
import type { ChatApp } from '../../../contract/chat/apps.js'
import { messageOf } from '../../api/client.js'
import type { ChatClient } from '../../chat/client.js'
import { rateTurn, runTurn, stopTurn, type Turn } from '../../chat/turn.js'
import { Button } from '../../ui/button.js'
import { Field } from '../../ui/parts.js'
import { Badge, Notice } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { AnswerText } from '../ask/answer-text.js'
import { Foot, type Rate } from './foot.js'
import { Sources } from './passages.js'

/** Conversation with an application, as its users have it. */
export function Talk({ app, client }: { app: ChatApp; client: ChatClient }) {
  const [turns, setTurns] = useState<readonly Turn[]>([])
  const [question, setQuestion] = useState('')
  const [inputs, setInputs] = useState<Record<string, string>>({})
  const stopper = useRef<AbortController>(undefined)
  const last = turns.at(-1)
  const isRunning = last?.state === 'running'
  useEffect(() => () => stopper.current?.abort(), [])

  const set = (at: number, turn: Turn) => setTurns((all) => [...all.slice(0, at), turn, ...all.slice(at + 1)])
  const ask = (text: string) => {
    if (text.trim() === '' || isRunning) return
    const at = turns.length
    const abort = new AbortController()
    stopper.current = abort
    setQuestion('')
    const asked = {
      client,
      question: text.trim(),
      conversationId: last?.conversationId,
      inputs: { ...defaultsOf(app), ...inputs },
      suggests: app.suggestedQuestionsAfterAnswer,
      signal: abort.signal,
    }
    void runTurn(asked, (turn) => set(at, turn))
  }
  const stop = () => {
    if (last !== undefined) stopTurn(client, last).catch((error: unknown) => say(messageOf(error), 'bad'))
  }
  const rate = async (at: number, rating: Turn['rating'], remark?: string) => {
    const turn = turns[at]
    if (turn === undefined) return
    const { rating: _, ...rest } = turn
    try {
      await rateTurn(client, turn, rating, remark)
      set(at, rating === undefined ? rest : { ...rest, rating })
      if (remark !== undefined) say('The remark is listed under Feedback.')
    } catch (error) {
      say(messageOf(error), 'bad')
    }
  }
  const suggested = turns.length === 0 ? app.suggestedQuestions : last?.state === 'done' ? last.suggested : []
  return (
    <div className="talk">
      {app.openingStatement !== '' && <p className="talk-opening">{app.openingStatement}</p>}
      {turns.length === 0 && <Inputs app={app} values={inputs} onChange={setInputs} />}
      <ol className="talk-turns">
        {turns.map((turn, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: turns are only appended
          <li key={at}>
            <TurnView turn={turn} rate={(rating, remark) => rate(at, rating, remark)} />
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
      <Composer text={question} setText={setQuestion} isRunning={isRunning} ask={ask} stop={stop} />
      {turns.length > 0 && !isRunning && (
        <Button small kind="quiet" icon="plus" onClick={() => setTurns([])}>
          New conversation
        </Button>
      )}
    </div>
  )
}

function Composer({
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

function TurnView({ turn, rate }: { turn: Turn; rate: Rate }) {
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
          {...(state === 'running' ? {} : { cited: sources.length })}
        />
      )}
      {state === 'stopped' && <Badge tone="warn">stopped</Badge>}
      {turn.error !== undefined && <Notice tone="bad">{turn.error}</Notice>}
      {turn.degraded?.map((why) => (
        <Notice key={why} tone="warn">
          {why}
        </Notice>
      ))}
      <Sources of={sources} cited={cited} />
      {state !== 'running' && <Foot turn={turn} rate={rate} />}
    </article>
  )
}

function Inputs({
  app,
  values,
  onChange,
}: {
  app: ChatApp
  values: Record<string, string>
  onChange: (values: Record<string, string>) => void
}) {
  if (app.userInputForm.length === 0) return null
  const defaults = defaultsOf(app)
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

function defaultsOf({ userInputForm }: ChatApp): Record<string, string> {
  return Object.fromEntries(
    userInputForm.flatMap((form) =>
      Object.values(form).flatMap((control) =>
        control.default === undefined ? [] : [[control.variable, control.default]],
      ),
    ),
  )
}
