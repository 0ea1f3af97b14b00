import { type FormEvent, useState } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { useWrite } from '../../api/use.js'
import { Button, IconButton } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { Dialog, Field, FormActions } from '../../ui/parts.js'
import { showToast } from '../../ui/toast.js'
import { toExpectation } from './expectation.js'
import { ExpectedAnswerFields, toAnswerFields, toExpectedAnswer } from './expected-answer.js'

const GOLDEN = 'GET /knowledge-spaces/{id}/golden-questions'

/** Expected location of the answer, as typed in the form. */
interface AnswerLocation {
  /** identifies the row while the form is open */
  key: number
  document: string
  heading: readonly string[]
  quote: string
}

interface GoldenFormProps {
  spaceId: string
  /** question to edit; absent for a new one */
  question?: GoldenQuestion
  onClose: () => void
}

/**
 * Form of a golden question and its expected evidence. Fields of a question that the form does not show stay unchanged.
 */
export function GoldenForm({ spaceId, question, onClose }: GoldenFormProps) {
  const expectation = question === undefined ? undefined : toExpectation(question)
  const [text, setText] = useState(question?.question ?? '')
  const [tags, setTags] = useState(question?.tags.join(', ') ?? '')
  const [hasAnswer, setHasAnswer] = useState(expectation?.answerable !== false)
  const [locations, setLocations] = useState<readonly AnswerLocation[]>(() => toLocations(expectation?.anchors))
  const [answer, setAnswer] = useState(() => toAnswerFields(question?.expect))
  const [keepsPassages, setKeepsPassages] = useState(true)
  const create = useWrite('POST /knowledge-spaces/{id}/golden-questions', [GOLDEN])
  const update = useWrite('PATCH /knowledge-spaces/{id}/golden-questions/{questionId}', [GOLDEN])
  const passages = question?.expectedEvidenceIds ?? []
  const expect = toExpectedAnswer(answer)
  const body = {
    question: text.trim(),
    tags: parseTags(tags),
    expectedEvidenceIds: hasAnswer && keepsPassages ? passages : [],
    metadata: mergeMetadata(question, hasAnswer ? toExpect(locations) : [], hasAnswer, expectation?.answerable),
  }
  const onSaved = () => {
    showToast(question === undefined ? 'It is part of the next run.' : 'The next run uses the changes.')
    onClose()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const path = { id: spaceId }
    if (question === undefined)
      create.mutate({ path, body: expect === undefined ? body : { ...body, expect } }, { onSuccess: onSaved })
    else {
      const changed = { ...body, expect: expect ?? null }
      update.mutate({ path: { ...path, questionId: question.id }, body: changed }, { onSuccess: onSaved })
    }
  }
  return (
    <Dialog title={question === undefined ? 'New golden question' : 'Edit golden question'} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <Field label="Question">
          {(given) => (
            <textarea
              {...given}
              className="textarea"
              rows={2}
              required
              maxLength={4000}
              value={text}
              onChange={(event) => setText(event.target.value)}
            />
          )}
        </Field>
        <label className="check">
          <input type="checkbox" checked={hasAnswer} onChange={(event) => setHasAnswer(event.target.checked)} />
          The space contains an answer
        </label>
        {hasAnswer && <AnswerLocations locations={locations} onChange={setLocations} />}
        {hasAnswer && passages.length > 0 && (
          <label className="check">
            <input
              type="checkbox"
              checked={keepsPassages}
              onChange={(event) => setKeepsPassages(event.target.checked)}
            />
            Keep the {plural(passages.length, 'passage')} it was promoted with
          </label>
        )}
        <ExpectedAnswerFields fields={answer} onChange={setAnswer} />
        <Field label="Tags" hint="Optional, separated by commas.">
          {(given) => (
            <input {...given} className="input" value={tags} onChange={(event) => setTags(event.target.value)} />
          )}
        </Field>
        <FormActions
          mutation={question === undefined ? create : update}
          label={question === undefined ? 'Add' : 'Save'}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

function AnswerLocations({
  locations,
  onChange,
}: {
  locations: readonly AnswerLocation[]
  onChange: (locations: readonly AnswerLocation[]) => void
}) {
  const change = (key: number, changes: Partial<AnswerLocation>) =>
    onChange(locations.map((location) => (location.key === key ? { ...location, ...changes } : location)))
  return (
    <fieldset className="golden-places">
      <legend className="small">Where the answer is</legend>
      {locations.map(({ key, document, heading, quote }, index) => (
        <div key={key} className="golden-place">
          <Field label="Document" hint="Its path, or the end of the path. Empty: any answer passes.">
            {(given) => (
              <input
                {...given}
                className="input"
                value={document}
                onChange={(event) => change(key, { document: event.target.value })}
              />
            )}
          </Field>
          <Field
            label="Quote"
            hint={heading.length === 0 ? 'Optional: text of the passage.' : `In ${heading.join(' › ')}.`}
          >
            {(given) => (
              <input
                {...given}
                className="input"
                disabled={document.trim() === ''}
                value={quote}
                onChange={(event) => change(key, { quote: event.target.value })}
              />
            )}
          </Field>
          {locations.length > 1 && (
            <IconButton
              icon="trash"
              label={`Remove location ${index + 1}`}
              onClick={() => onChange(locations.filter((location) => location.key !== key))}
            />
          )}
        </div>
      ))}
      <div>
        <Button small kind="quiet" icon="plus" onClick={() => onChange([...locations, createLocation(locations)])}>
          Add location
        </Button>
      </div>
    </fieldset>
  )
}

function createLocation(others: readonly AnswerLocation[]): AnswerLocation {
  return { key: Math.max(0, ...others.map(({ key }) => key)) + 1, document: '', heading: [], quote: '' }
}

function toLocations(anchors: ReturnType<typeof toExpectation>['anchors'] | undefined): readonly AnswerLocation[] {
  if (anchors === undefined || anchors.length === 0) return [createLocation([])]
  return anchors.map(({ document, heading, quote }, key) => ({ key, document, heading, quote: quote ?? '' }))
}

function toExpect(locations: readonly AnswerLocation[]): Record<string, unknown>[] {
  return locations.flatMap(({ document, heading, quote }) => {
    if (document.trim() === '') return []
    return [
      {
        document: document.trim(),
        ...(heading.length === 0 ? {} : { heading: [...heading] }),
        ...(quote.trim() === '' ? {} : { quote: quote.trim() }),
      },
    ]
  })
}

function parseTags(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter((tag) => tag !== ''))]
}

/** Merges the form into the metadata of the client; the service keeps annotation and origin. */
function mergeMetadata(
  question: GoldenQuestion | undefined,
  expect: readonly Record<string, unknown>[],
  hasAnswer: boolean,
  previousAnswerable: boolean | undefined,
): Record<string, unknown> {
  const { annotation: _, origin: __, expect: ___, answerable: ____, ...own } = question?.metadata ?? {}
  return {
    ...own,
    ...(expect.length === 0 ? {} : { expect }),
    // a question that was marked unanswerable and has an answer now is marked answerable; a judgement may override it
    ...(hasAnswer ? (previousAnswerable === false ? { answerable: true } : {}) : { answerable: false }),
  }
}
