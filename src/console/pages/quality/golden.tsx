import { useState } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { useBoundedList } from '../../api/bounded-list.js'
import { useWrite } from '../../api/use.js'
import { Button, IconButton } from '../../ui/button.js'
import { formatCount, formatDay, plural } from '../../ui/format.js'
import { Dialog, FormActions } from '../../ui/parts.js'
import { Badge, Empty, Loaded, Notice } from '../../ui/state.js'
import { toExpectation } from './expectation.js'
import { GoldenForm } from './golden-form.js'

export const GOLDEN = 'GET /knowledge-spaces/{id}/golden-questions'
/** Questions that the page shows, at most. */
export const MAX_GOLDEN_QUESTIONS = 500

export function useGoldenQuestions(spaceId: string) {
  return useBoundedList(
    GOLDEN,
    (cursor) => ({ path: { id: spaceId }, query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) } }),
    { maxItems: MAX_GOLDEN_QUESTIONS },
  )
}

/** Tab of the golden questions of a space. */
export function GoldenQuestions({ spaceId }: { spaceId: string }) {
  const golden = useGoldenQuestions(spaceId)
  const [isNew, setNew] = useState(false)
  const [edited, setEdited] = useState<GoldenQuestion>()
  const [deleted, setDeleted] = useState<GoldenQuestion>()
  const addButton = (
    <Button kind="primary" icon="plus" onClick={() => setNew(true)}>
      New question
    </Button>
  )
  return (
    <div className="stack">
      <Loaded query={golden} lines={8}>
        {({ items, isTruncated }) =>
          items.length === 0 ? (
            <Empty icon="check" title="No golden questions yet">
              <p>
                Reference questions with the passages that should answer them. Promote one from the review, or write
                one.
              </p>
              {addButton}
            </Empty>
          ) : (
            <>
              <div className="row">{addButton}</div>
              {isTruncated && (
                <Notice>
                  The oldest {formatCount(MAX_GOLDEN_QUESTIONS)} are shown; <code>ks golden --all</code> lists all.
                </Notice>
              )}
              <ul className="golden-list">
                {items.map((question) => (
                  <GoldenRow
                    key={question.id}
                    question={question}
                    onEdit={() => setEdited(question)}
                    onDelete={() => setDeleted(question)}
                  />
                ))}
              </ul>
            </>
          )
        }
      </Loaded>
      {isNew && <GoldenForm spaceId={spaceId} onClose={() => setNew(false)} />}
      {edited !== undefined && <GoldenForm spaceId={spaceId} question={edited} onClose={() => setEdited(undefined)} />}
      {deleted !== undefined && (
        <DeleteGoldenQuestion spaceId={spaceId} question={deleted} onClose={() => setDeleted(undefined)} />
      )}
    </div>
  )
}

interface GoldenRowProps {
  question: GoldenQuestion
  onEdit: () => void
  onDelete: () => void
}

function GoldenRow({ question, onEdit, onDelete }: GoldenRowProps) {
  const { anchors, expectedEvidenceIds: evidenceIds, expect: answer, answerable } = toExpectation(question)
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
          {answer?.answer?.map((text) => (
            <span key={text} className="wrap">
              answer: “{text}”
            </span>
          ))}
          {answer?.not?.map((text) => (
            <span key={text} className="wrap">
              not: “{text}”
            </span>
          ))}
          {answer?.state !== undefined && <Badge>{answer.state}</Badge>}
          {anchors.length + evidenceIds.length === 0 && answer === undefined && answerable === undefined && (
            <span>nothing expected: any answer passes</span>
          )}
          {question.tags.map((tag) => (
            <Badge key={tag}>{tag}</Badge>
          ))}
          {origin !== undefined && <span>promoted</span>}
          <span>{formatDay(question.createdAt)}</span>
        </p>
      </div>
      <div className="golden-actions">
        <Button small kind="quiet" aria-label={`Edit ${question.question.slice(0, 80)}`} onClick={onEdit}>
          Edit
        </Button>
        <IconButton icon="trash" label={`Delete ${question.question.slice(0, 80)}`} onClick={onDelete} />
      </div>
    </li>
  )
}

function DeleteGoldenQuestion({
  spaceId,
  question,
  onClose,
}: {
  spaceId: string
  question: GoldenQuestion
  onClose: () => void
}) {
  const remove = useWrite('DELETE /knowledge-spaces/{id}/golden-questions/{questionId}', [GOLDEN])
  return (
    <Dialog title="Delete this golden question?" onClose={onClose}>
      <div className="stack">
        <p className="wrap">{question.question}</p>
        <p className="muted">It is removed from future runs. This cannot be undone.</p>
        <FormActions
          mutation={remove}
          label="Delete"
          kind="danger"
          onClick={() => remove.mutate({ path: { id: spaceId, questionId: question.id } }, { onSuccess: onClose })}
          cancel="Keep"
          onCancel={onClose}
        />
      </div>
    </Dialog>
  )
}
