import { type FormEvent, useState } from 'react'
import type { TurnProgress } from '../../chat/turn.js'
import { Button } from '../../ui/button.js'
import { formatCount } from '../../ui/format.js'
import { Icon } from '../../ui/icon.js'
import { Badge } from '../../ui/state.js'

/** @param rating undefined removes the rating; a remark requires one */
export type RateAnswer = (rating: TurnProgress['rating'], remark?: string) => Promise<void>

/** Usage of an answer, and the buttons to rate it. */
export function TurnFooter({ turn, rate }: { turn: TurnProgress; rate: RateAnswer }) {
  const { usage, isAnnotation, rating, messageId } = turn
  const [isRemarking, setRemarking] = useState(false)
  const toggle = (value: 'like' | 'dislike') => {
    const next = rating === value ? undefined : value
    setRemarking(next !== undefined)
    void rate(next)
  }
  return (
    <>
      <div className="row small faint">
        {messageId !== undefined && (
          <>
            <RatingButton isOn={rating === 'like'} label="Good answer" onClick={() => toggle('like')} />
            <RatingButton isOn={rating === 'dislike'} label="Bad answer" onClick={() => toggle('dislike')} />
          </>
        )}
        {isAnnotation === true && <Badge tone="accent">annotation</Badge>}
        {usage !== undefined && (
          <span className="number">
            {formatCount(usage.total_tokens)} tokens, {Number(usage.total_price)} {usage.currency},{' '}
            {usage.latency.toFixed(1)} s
          </span>
        )}
      </div>
      {isRemarking && rating !== undefined && (
        <RemarkForm send={(remark) => rate(rating, remark)} onClose={() => setRemarking(false)} />
      )}
    </>
  )
}

function RatingButton({ isOn, label, onClick }: { isOn: boolean; label: string; onClick: () => void }) {
  return (
    <Button small kind="quiet" aria-pressed={isOn} onClick={onClick}>
      {isOn && <Icon name="check" size={14} />} {label}
    </Button>
  )
}

/** Optional reason for a rating. */
function RemarkForm({ send, onClose }: { send: (remark: string) => Promise<void>; onClose: () => void }) {
  const [text, setText] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void send(text.trim()).then(onClose)
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
      <Button small type="submit" disabled={text.trim() === ''}>
        Send
      </Button>
      <Button small kind="quiet" onClick={onClose}>
        Close
      </Button>
    </form>
  )
}
