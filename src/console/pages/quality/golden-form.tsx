import { type FormEvent, useState } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import type { GoldenCase } from '../../../contract/gateway/golden-runs.js'
import { useWrite } from '../../api/use.js'
import { Button, IconButton } from '../../ui/button.js'
import { CheckBox, TextAreaField, TextField } from '../../ui/fields.js'
import { plural, splitTrimmed } from '../../ui/format.js'
import { Dialog, FormActions } from '../../ui/parts.js'
import { showToast } from '../../ui/toast.js'
import { parseExpectation } from './expectation.js'
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
  const expectation = question === undefined ? undefined : parseExpectation(question)
  const [text, setText] = useState(question?.question ?? '')
  const [tags, setTags] = useState(question?.tags.join(', ') ?? '')
  const [hasAnswer, setHasAnswer] = useState(expectation?.answerable !== false)
  const [locations, setLocations] = useState<readonly AnswerLocation[]>(() => toLocations(expectation?.anchors))
  const [answer, setAnswer] = useState(() => toAnswerFields(question?.expect))
  const [keepsPassages, setKeepsPassages] = useState(true)
  const create = useWrite('POST /knowledge-spaces/{id}/golden-questions', [GOLDEN])
  const update = useWrite('PATCH /knowledge-spaces/{id}/golden-questions/{questionId}', [GOLDEN])
  const passageIds = question?.expectedEvidenceIds ?? []
  const expectedAnswer = toExpectedAnswer(answer)
  const { annotation: _, origin: __, expect: ___, answerable: ____, ...otherMetadata } = question?.metadata ?? {}
  const expectedLocations = hasAnswer ? toExpectedLocations(locations) : []
  const body = {
    question: text.trim(),
    tags: [...new Set(splitTrimmed(tags, ','))],
    expectedEvidenceIds: hasAnswer && keepsPassages ? passageIds : [],
    // the service keeps annotation and origin
    metadata: {
      ...otherMetadata,
      ...(expectedLocations.length === 0 ? {} : { expect: expectedLocations }),
      // without a change, `answerable` stays absent: the annotation of the question decides
      ...(!hasAnswer ? { answerable: false } : expectation?.answerable === false ? { answerable: true } : {}),
    },
  }
  const onSaved = () => {
    showToast(question === undefined ? 'It is part of the next run.' : 'The next run uses the changes.')
    onClose()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const path = { id: spaceId }
    if (question === undefined) {
      const created = expectedAnswer === undefined ? body : { ...body, expect: expectedAnswer }
      create.mutate({ path, body: created }, { onSuccess: onSaved })
    } else {
      const changed = { ...body, expect: expectedAnswer ?? null }
      update.mutate({ path: { ...path, questionId: question.id }, body: changed }, { onSuccess: onSaved })
    }
  }
  return (
    <Dialog title={question === undefined ? 'New golden question' : 'Edit golden question'} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <TextAreaField
          label="Question"
          rows={2}
          required
          maxLength={4000}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <CheckBox checked={hasAnswer} onChange={(event) => setHasAnswer(event.target.checked)}>
          The space contains an answer
        </CheckBox>
        {hasAnswer && <AnswerLocations locations={locations} onChange={setLocations} />}
        {hasAnswer && passageIds.length > 0 && (
          <CheckBox checked={keepsPassages} onChange={(event) => setKeepsPassages(event.target.checked)}>
            Keep the {plural(passageIds.length, 'passage')} it was promoted with
          </CheckBox>
        )}
        <ExpectedAnswerFields fields={answer} onChange={setAnswer} />
        <TextField
          label="Tags"
          hint="Optional, separated by commas."
          value={tags}
          onChange={(event) => setTags(event.target.value)}
        />
        <FormActions
          mutation={question === undefined ? create : update}
          label={question === undefined ? 'Add' : 'Save'}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

interface AnswerLocationsProps {
  locations: readonly AnswerLocation[]
  onChange: (locations: readonly AnswerLocation[]) => void
}

function AnswerLocations({ locations, onChange }: AnswerLocationsProps) {
  const change = (key: number, changes: Partial<AnswerLocation>) =>
    onChange(locations.map((location) => (location.key === key ? { ...location, ...changes } : location)))
  return (
    <fieldset className="golden-locations">
      <legend className="small">Where the answer is</legend>
      {locations.map(({ key, document, heading, quote }, index) => (
        <div key={key} className="golden-location">
          <TextField
            label="Document"
            hint="Its path, or the end of the path. Empty: any answer passes."
            value={document}
            onChange={(event) => change(key, { document: event.target.value })}
          />
          <TextField
            label="Quote"
            hint={heading.length === 0 ? 'Optional: text of the passage.' : `In ${heading.join(' › ')}.`}
            disabled={document.trim() === ''}
            value={quote}
            onChange={(event) => change(key, { quote: event.target.value })}
          />
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

function toLocations(anchors: GoldenCase['anchors'] | undefined): readonly AnswerLocation[] {
  if (anchors === undefined || anchors.length === 0) return [createLocation([])]
  return anchors.map(({ document, heading, quote }, key) => ({ key, document, heading, quote: quote ?? '' }))
}

/** Converts the locations with a document to the form in which a question's metadata contains them. */
function toExpectedLocations(locations: readonly AnswerLocation[]): Record<string, unknown>[] {
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
