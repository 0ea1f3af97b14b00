import { type FormEvent, useState } from 'react'
import { useWrite } from '../../api/use.js'
import { TextAreaField } from '../../ui/fields.js'
import { Dialog, FormActions } from '../../ui/parts.js'
import { showToast } from '../../ui/toast.js'
import { ExpectedAnswerFields, toAnswerFields, toExpectedAnswer } from '../quality/expected-answer.js'

interface WrongAnswerDialogProps {
  spaceId: string
  traceId: string
  question: string
  onClose: () => void
}

/** Dialog that creates a golden question from a wrong answer, with the evidence that the answer used. */
export function WrongAnswerDialog({ spaceId, traceId, question, onClose }: WrongAnswerDialogProps) {
  const [reason, setReason] = useState('')
  const [answer, setAnswer] = useState(() => toAnswerFields())
  const create = useWrite('POST /knowledge-spaces/{id}/production-bad-cases', [
    'GET /knowledge-spaces/{id}/golden-questions',
  ])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const trimmedReason = reason.trim()
    const expect = toExpectedAnswer(answer)
    const body = {
      traceId,
      ...(trimmedReason === '' ? {} : { reason: trimmedReason }),
      ...(expect === undefined ? {} : { expect }),
    }
    create.mutate(
      { path: { id: spaceId }, body },
      {
        onSuccess: () => {
          showToast('A golden question was created; future runs include it.')
          onClose()
        },
      },
    )
  }
  return (
    <Dialog title="This is wrong" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <p className="muted">
          The question becomes a golden question with the passages that were used, so that future runs measure whether
          the answer improves.
        </p>
        <blockquote className="quote wrap">{question}</blockquote>
        <TextAreaField
          label="What is wrong with the answer?"
          hint="Optional."
          rows={3}
          maxLength={1000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <ExpectedAnswerFields fields={answer} onChange={setAnswer} />
        <FormActions mutation={create} label="Create golden question" onCancel={onClose} />
      </form>
    </Dialog>
  )
}
