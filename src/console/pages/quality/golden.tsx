import { useState } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { useBoundedList } from '../../api/bounded-list.js'
import { useWrite } from '../../api/use.js'
import { Button, IconButton } from '../../ui/button.js'
import { formatCount, formatDay, plural } from '../../ui/format.js'
import { ConfirmDialog } from '../../ui/parts.js'
import { Badge, Empty, Loaded, Notice } from '../../ui/state.js'
import { parseExpectation } from './expectation.js'
import { GoldenForm } from './golden-form.js'

const GOLDEN = 'GET /knowledge-spaces/{id}/golden-questions'
/** Maximum number of questions that the page shows. */
const MAX_GOLDEN_QUESTIONS = 500
/** Characters of a question in the accessible names of its buttons, and of a quotation. */
const MAX_LABEL_CHARS = 80

export function useGoldenQuestions(spaceId: string) {
  return useBoundedList(GOLDEN, (position) => ({ path: { id: spaceId }, query: { limit: 100, ...position } }), {
    maxItems: MAX_GOLDEN_QUESTIONS,
  })
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
  const { anchors, expectedEvidenceIds: evidenceIds, expect: answer, answerable } = parseExpectation(question)
  const { origin } = question.metadata
  const label = question.question.slice(0, MAX_LABEL_CHARS)
  return (
    <li className="golden-item">
      <div className="golden-text">
        <p className="wrap golden-question">{question.question}</p>
        <p className="row small faint">
          {answerable === false && <Badge tone="warn">has no answer</Badge>}
          {evidenceIds.length > 0 && <span>{plural(evidenceIds.length, 'expected passage')}</span>}
          {anchors.map(({ document, quote }) => (
            <span key={`${document} ${quote}`} className="wrap">
              {quote === undefined ? document : `${document}: “${quote.slice(0, MAX_LABEL_CHARS)}”`}
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
        <Button small kind="quiet" aria-label={`Edit ${label}`} onClick={onEdit}>
          Edit
        </Button>
        <IconButton icon="trash" label={`Delete ${label}`} onClick={onDelete} />
      </div>
    </li>
  )
}

interface DeleteGoldenQuestionProps {
  spaceId: string
  question: GoldenQuestion
  onClose: () => void
}

function DeleteGoldenQuestion({ spaceId, question, onClose }: DeleteGoldenQuestionProps) {
  const remove = useWrite('DELETE /knowledge-spaces/{id}/golden-questions/{questionId}', [GOLDEN])
  return (
    <ConfirmDialog
      title="Delete this golden question?"
      mutation={remove}
      label="Delete"
      onClick={() => remove.mutate({ path: { id: spaceId, questionId: question.id } }, { onSuccess: onClose })}
      cancelLabel="Keep"
      onClose={onClose}
    >
      <p className="wrap">{question.question}</p>
      <p className="muted">It is removed from future runs. This cannot be undone.</p>
    </ConfirmDialog>
  )
}
