import './conversation.css'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { RetrieverResource } from '../../contract/chat/messages.js'
import { Icon } from '../ui/icon.js'
import { AnswerText } from './answer-text.js'
import type { TurnProgress } from './turn.js'

const MAX_EXCERPT_CHARACTERS = 400

/** How a page shows turns: the one of an application's owner and the one of its visitors differ. */
export interface TurnStyle {
  ratingLabels: { like: string; dislike: string }
  /** whether steps of an agent, usage, and the use of an annotation are shown */
  showsDetails: boolean
  /** called after a remark on a rating was stored; without it, no remarks can be given */
  onRemark?: () => void
  /** renders the name of a passage's document */
  renderSourceName: (source: RetrieverResource) => ReactNode
}

interface TurnViewProps {
  turn: TurnProgress
  style: TurnStyle
  /**
   * Rates the answer; undefined removes the rating. Without it, the rating is only shown.
   *
   * @returns whether the service stored the rating
   */
  rate?: (rating: TurnProgress['rating'], remark?: string) => Promise<boolean>
}

/** A question, its answer with passages, and the rating of the answer. */
export function TurnView({ turn, style, rate }: TurnViewProps) {
  const { state, sources, steps, answer, error, degradedReasons = [] } = turn
  const isRunning = state === 'running'
  const [selectedPosition, selectPosition] = useState<number>()
  const view = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new question is scrolled into view
  useEffect(() => {
    if (isRunning) view.current?.scrollIntoView({ block: 'start' })
  }, [])
  return (
    <article className="talk-turn" ref={view}>
      <p className="talk-question wrap">{turn.question}</p>
      {style.showsDetails && steps.length > 0 && (
        <details className="small muted">
          <summary>{steps.length === 1 ? '1 step' : `${steps.length} steps`}</summary>
          <ul>
            {steps.map((step, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: steps are only appended
              <li key={index} className="mono wrap">
                {step}
              </li>
            ))}
          </ul>
        </details>
      )}
      {answer === '' && isRunning ? (
        <p className="muted">Searching…</p>
      ) : (
        <AnswerText
          text={answer}
          isRunning={isRunning}
          onCite={selectPosition}
          {...(isRunning ? {} : { itemCount: sources.length })}
        />
      )}
      {state === 'stopped' && <span className="badge badge-warn">stopped</span>}
      {error !== undefined && (
        <p className="notice notice-bad wrap" role="alert">
          {error}
        </p>
      )}
      {degradedReasons.map((reason) => (
        <p key={reason} className="notice notice-warn wrap" role="note">
          {reason}
        </p>
      ))}
      <TurnSources sources={sources} selectedPosition={selectedPosition} renderName={style.renderSourceName} />
      {rate === undefined ? (
        <StoredRating turn={turn} style={style} />
      ) : (
        !isRunning && <TurnFooter turn={turn} style={style} rate={rate} />
      )}
    </article>
  )
}

interface TurnSourcesProps {
  sources: readonly RetrieverResource[]
  /** number of the passage whose citation was clicked; it is highlighted */
  selectedPosition: number | undefined
  renderName: TurnStyle['renderSourceName']
}

/** Passages of an answer. */
function TurnSources({ sources, selectedPosition, renderName }: TurnSourcesProps) {
  if (sources.length === 0) return null
  return (
    // the key opens the list at each citation; the user may close it again
    <details key={selectedPosition} className="talk-sources" open={selectedPosition !== undefined}>
      <summary className="small">{sources.length === 1 ? '1 passage' : `${sources.length} passages`}</summary>
      <ol>
        {sources.map((source) => (
          <li key={source.position} className={source.position === selectedPosition ? 'is-cited' : undefined}>
            <p className="wrap">
              <span className="faint number">{source.position}</span> {renderName(source)}{' '}
              <span className="small faint">{formatSourceLocation(source)}</span>
            </p>
            <p className="small muted wrap">{source.content.slice(0, MAX_EXCERPT_CHARACTERS)}</p>
          </li>
        ))}
      </ol>
    </details>
  )
}

/** Formats `Setup › Linux, p. 3, 0.91`; visitors see no score. */
function formatSourceLocation({ section_path = [], page, score }: Partial<RetrieverResource>): string {
  const parts = [section_path.join(' › '), page === undefined ? '' : `p. ${page}`, score?.toFixed(2) ?? '']
  return parts.filter((part) => part !== '').join(', ')
}

interface TurnFooterProps {
  turn: TurnProgress
  style: TurnStyle
  rate: NonNullable<TurnViewProps['rate']>
}

/** Usage of an answer, and the buttons to rate it. */
function TurnFooter({ turn, style: { ratingLabels, showsDetails, onRemark }, rate }: TurnFooterProps) {
  const { usage, isAnnotation, rating, messageId } = turn
  const [isRemarking, setRemarking] = useState(false)
  const toggle = (value: 'like' | 'dislike') => {
    const next = rating === value ? undefined : value
    setRemarking(next !== undefined)
    void rate(next)
  }
  const sendRemark = async (remark: string) => {
    const isStored = await rate(rating, remark)
    if (isStored) onRemark?.()
    setRemarking(false)
  }
  return (
    <>
      <div className="row small faint">
        {messageId !== undefined &&
          (['like', 'dislike'] as const).map((value) => (
            <button
              key={value}
              type="button"
              className="button button-quiet button-small"
              aria-pressed={rating === value}
              onClick={() => toggle(value)}
            >
              {rating === value && <Icon name="check" size={14} />} {ratingLabels[value]}
            </button>
          ))}
        {showsDetails && isAnnotation === true && <span className="badge badge-accent">annotation</span>}
        {showsDetails && usage !== undefined && (
          <span className="number">
            {usage.total_tokens.toLocaleString('en-US')} tokens, {Number(usage.total_price)} {usage.currency},{' '}
            {usage.latency.toFixed(1)} s
          </span>
        )}
      </div>
      {onRemark !== undefined && isRemarking && rating !== undefined && (
        <RemarkForm send={sendRemark} onClose={() => setRemarking(false)} />
      )}
    </>
  )
}

/** Optional reason for a rating. */
function RemarkForm({ send, onClose }: { send: (remark: string) => Promise<void>; onClose: () => void }) {
  const [text, setText] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void send(text.trim())
  }
  return (
    <form className="row talk-remark" onSubmit={submit}>
      <input
        className="input"
        aria-label="Remark"
        placeholder="Why? Optional."
        maxLength={2000}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="button button-small" disabled={text.trim() === ''}>
        Send
      </button>
      <button type="button" className="button button-quiet button-small" onClick={onClose}>
        Close
      </button>
    </form>
  )
}

/** Rating of an answer that cannot be changed here. */
function StoredRating({ turn: { rating }, style: { ratingLabels } }: Omit<TurnFooterProps, 'rate'>) {
  if (rating === undefined) return null
  return (
    <span className={`badge badge-${rating === 'like' ? 'good' : 'bad'}`}>{ratingLabels[rating].toLowerCase()}</span>
  )
}
