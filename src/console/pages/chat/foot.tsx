import { type FormEvent, useState } from 'react'
import type { Turn } from '../../chat/turn.js'
import { Button } from '../../ui/button.js'
import { formatCount } from '../../ui/format.js'
import { Icon } from '../../ui/icon.js'
import { Badge } from '../../ui/state.js'

/** @param rating undefined removes the rating; a remark requires one */
export type Rate = (rating: Turn['rating'], remark?: string) => Promise<void>

/** Usage of an answer, and the buttons to rate it. */
export function Foot({ turn, rate }: { turn: Turn; rate: Rate }) {
  const { usage, isFixed, rating, messageId } = turn
  const [isRemarking, setRemarking] = useState(false)
  const flip = (to: 'like' | 'dislike') => {
    const next = rating === to ? undefined : to
    setRemarking(next !== undefined)
    void rate(next)
  }
  return (
    <>
      <div className="row small faint">
        {messageId !== undefined && (
          <>
            <RatingButton isOn={rating === 'like'} words="Good answer" onClick={() => flip('like')} />
            <RatingButton isOn={rating === 'dislike'} words="Bad answer" onClick={() => flip('dislike')} />
          </>
        )}
        {isFixed === true && <Badge tone="accent">annotation</Badge>}
        {usage !== undefined && (
          <span className="number">
            {formatCount(usage.total_tokens)} tokens, {Number(usage.total_price)} {usage.currency},{' '}
            {usage.latency.toFixed(1)} s
          </span>
        )}
      </div>
      {isRemarking && rating !== undefined && (
        <Remark send={(remark) => rate(rating, remark)} onClose={() => setRemarking(false)} />
      )}
    </>
  )
}

function RatingButton({ isOn, words, onClick }: { isOn: boolean; words: string; onClick: () => void }) {
  return (
    <Button small kind="quiet" aria-pressed={isOn} onClick={onClick}>
      {isOn && <Icon name="check" size={14} />} {words}
    </Button>
  )
}

/** Optional reason for a rating. */
function Remark({ send, onClose }: { send: (remark: string) => Promise<void>; onClose: () => void }) {
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
