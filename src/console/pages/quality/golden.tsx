import { type FormEvent, useState } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { messageOf } from '../../api/client.js'
import { useEvery } from '../../api/every.js'
import { useWrite } from '../../api/use.js'
import { Button, IconButton } from '../../ui/button.js'
import { formatCount, formatDay, plural } from '../../ui/format.js'
import { Dialog, Field } from '../../ui/parts.js'
import { Badge, Empty, Loaded, Notice } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { expectedOf } from './expected.js'

export const GOLDEN = 'GET /knowledge-spaces/{id}/golden-questions'
/** as many as a page shows and a run here asks */
export const MOST_GOLDEN = 500

export function useGolden(spaceId: string) {
  return useEvery(
    GOLDEN,
    (cursor) => ({ path: { id: spaceId }, query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } }),
    { most: MOST_GOLDEN },
  )
}

/** The reference questions of the space. */
export function Golden({ spaceId }: { spaceId: string }) {
  const golden = useGolden(spaceId)
  const [isNew, setNew] = useState(false)
  const [dropped, setDropped] = useState<GoldenQuestion>()
  const add = (
    <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
      New question
    </Button>
  )
  return (
    <div className="stack">
      <Loaded of={golden} lines={8}>
        {({ items, isCut }) =>
          items.length === 0 ? (
            <Empty icon="check" title="No golden questions yet">
              <p>
                They are the measure: questions with the passages that should answer them. Promote one from the review,
                or write it.
              </p>
              {add}
            </Empty>
          ) : (
            <>
              <div className="row">{add}</div>
              {isCut && <Notice>The oldest {formatCount(MOST_GOLDEN)} are shown; `ks golden --all` lists all.</Notice>}
              <ul className="golden-list">
                {items.map((one) => (
                  <GoldenRow key={one.id} question={one} onDelete={() => setDropped(one)} />
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
      {isNew && <NewGolden spaceId={spaceId} onClose={() => setNew(false)} />}
      {dropped !== undefined && (
        <DropGolden spaceId={spaceId} question={dropped} onClose={() => setDropped(undefined)} />
      )}
    </div>
  )
}

function GoldenRow({ question, onDelete }: { question: GoldenQuestion; onDelete: () => void }) {
  const { anchors, evidenceIds, answerable } = expectedOf(question)
  const { origin } = question.metadata
  return (
    <li className="golden-item">
      <div className="golden-words">
        <p className="wrap golden-question">{question.question}</p>
        <p className="row small faint">
          {answerable === false && <Badge tone="warn">has no answer</Badge>}
          {evidenceIds.length > 0 && <span>{plural(evidenceIds.length, 'expected passage')}</span>}
          {anchors.map(({ document, quote }) => (
            <span key={`${document} ${quote}`} className="wrap">
              {quote === undefined ? document : `${document}: “${quote.slice(0, 80)}”`}
            </span>
          ))}
          {anchors.length + evidenceIds.length === 0 && answerable === undefined && (
            <span>nothing expected: any answer passes</span>
          )}
          {question.tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
          {origin !== undefined && <span>promoted</span>}
          <span>{formatDay(question.createdAt)}</span>
        </p>
      </div>
      <IconButton icon="trash" label={`Delete ${question.question.slice(0, 80)}`} onClick={onDelete} />
    </li>
  )
}

function DropGolden({
  spaceId,
  question,
  onClose,
}: {
  spaceId: string
  question: GoldenQuestion
  onClose: () => void
}) {
  const drop = useWrite('DELETE /knowledge-spaces/{id}/golden-questions/{questionId}', [GOLDEN])
  return (
    <Dialog title="Delete this golden question?" onClose={onClose}>
      <div className="stack">
        <p className="wrap">{question.question}</p>
        <p className="muted">It takes no part in runs any more. This cannot be taken back.</p>
        {drop.isError && <Notice tone="bad">{messageOf(drop.error)}</Notice>}
        <div className="row form-end">
          <Button onClick={onClose}>Keep</Button>
          <Button
            kind="danger"
            busy={drop.isPending}
            onClick={() => drop.mutate({ path: { id: spaceId, questionId: question.id } }, { onSuccess: onClose })}
          >
            Delete
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

function NewGolden({ spaceId, onClose }: { spaceId: string; onClose: () => void }) {
  const [question, setQuestion] = useState('')
  const [document, setDocument] = useState('')
  const [quote, setQuote] = useState('')
  const [hasAnswer, setHasAnswer] = useState(true)
  const create = useWrite('POST /knowledge-spaces/{id}/golden-questions', [GOLDEN])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const place = { document: document.trim(), ...(quote.trim() === '' ? {} : { quote: quote.trim() }) }
    const metadata = !hasAnswer ? { answerable: false } : place.document === '' ? {} : { expect: [place] }
    create.mutate(
      { path: { id: spaceId }, body: { question: question.trim(), metadata } },
      {
        onSuccess: () => {
          say('The next run asks it, too.')
          onClose()
        },
      },
    )
  }
  return (
    <Dialog title="New golden question" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Question">
          {(given) => (
            <textarea
              {...given}
              className="textarea"
              rows={2}
              required
              maxLength={4000}
              value={question}
              onChange={(event) => setQuestion(event.target.value)}
            />
          )}
        </Field>
        <label className="row">
          <input type="checkbox" checked={hasAnswer} onChange={(event) => setHasAnswer(event.target.checked)} />
          The space holds an answer
        </label>
        {hasAnswer && (
          <>
            <Field label="Document" hint="Optional: its whole path, or the end of it.">
              {(given) => (
                <input
                  {...given}
                  className="input"
                  value={document}
                  onChange={(event) => setDocument(event.target.value)}
                />
              )}
            </Field>
            <Field label="Quote" hint="Optional: words of the passage that answers.">
              {(given) => (
                <input
                  {...given}
                  className="input"
                  disabled={document.trim() === ''}
                  value={quote}
                  onChange={(event) => setQuote(event.target.value)}
                />
              )}
            </Field>
          </>
        )}
        {create.isError && <Notice tone="bad">{messageOf(create.error)}</Notice>}
        <div className="row form-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={create.isPending}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
