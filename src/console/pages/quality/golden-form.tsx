import { type FormEvent, useState } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { useWrite } from '../../api/use.js'
import { Button, IconButton } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { Dialog, Field, FormEnd } from '../../ui/parts.js'
import { say } from '../../ui/toast.js'
import { expectedOf } from './expected.js'
import { ExpectedAnswerFields, toAnswerFields, toExpectedAnswer } from './expected-answer.js'

const GOLDEN = 'GET /knowledge-spaces/{id}/golden-questions'

/** Expected location of the answer, as typed in the form. */
interface Place {
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
  const known = question === undefined ? undefined : expectedOf(question)
  const [text, setText] = useState(question?.question ?? '')
  const [tags, setTags] = useState(question?.tags.join(', ') ?? '')
  const [hasAnswer, setHasAnswer] = useState(known?.answerable !== false)
  const [places, setPlaces] = useState<readonly Place[]>(() => placesOf(known?.anchors))
  const [answer, setAnswer] = useState(() => toAnswerFields(question?.expect))
  const [keepsPassages, setKeepsPassages] = useState(true)
  const create = useWrite('POST /knowledge-spaces/{id}/golden-questions', [GOLDEN])
  const update = useWrite('PATCH /knowledge-spaces/{id}/golden-questions/{questionId}', [GOLDEN])
  const passages = question?.expectedEvidenceIds ?? []
  const expect = toExpectedAnswer(answer)
  const body = {
    question: text.trim(),
    tags: tagsIn(tags),
    expectedEvidenceIds: hasAnswer && keepsPassages ? passages : [],
    metadata: metadataOf(question, hasAnswer ? expectIn(places) : [], hasAnswer, known?.answerable),
  }
  const done = () => {
    say(question === undefined ? 'It is part of the next run.' : 'The next run uses the changes.')
    onClose()
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const path = { id: spaceId }
    if (question === undefined)
      create.mutate({ path, body: expect === undefined ? body : { ...body, expect } }, { onSuccess: done })
    else {
      const changed = { ...body, expect: expect ?? null }
      update.mutate({ path: { ...path, questionId: question.id }, body: changed }, { onSuccess: done })
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
        {hasAnswer && <Places places={places} onChange={setPlaces} />}
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
        <FormEnd
          of={question === undefined ? create : update}
          label={question === undefined ? 'Add' : 'Save'}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

function Places({ places, onChange }: { places: readonly Place[]; onChange: (places: readonly Place[]) => void }) {
  const change = (key: number, to: Partial<Place>) =>
    onChange(places.map((place) => (place.key === key ? { ...place, ...to } : place)))
  return (
    <fieldset className="golden-places">
      <legend className="small">Where the answer is</legend>
      {places.map(({ key, document, heading, quote }, at) => (
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
          {places.length > 1 && (
            <IconButton
              icon="trash"
              label={`Remove location ${at + 1}`}
              onClick={() => onChange(places.filter((place) => place.key !== key))}
            />
          )}
        </div>
      ))}
      <div>
        <Button small kind="quiet" icon="plus" onClick={() => onChange([...places, emptyPlace(places)])}>
          Add location
        </Button>
      </div>
    </fieldset>
  )
}

function emptyPlace(others: readonly Place[]): Place {
  return { key: Math.max(0, ...others.map(({ key }) => key)) + 1, document: '', heading: [], quote: '' }
}

function placesOf(anchors: ReturnType<typeof expectedOf>['anchors'] | undefined): readonly Place[] {
  if (anchors === undefined || anchors.length === 0) return [emptyPlace([])]
  return anchors.map(({ document, heading, quote }, key) => ({ key, document, heading, quote: quote ?? '' }))
}

function expectIn(places: readonly Place[]): Record<string, unknown>[] {
  return places.flatMap(({ document, heading, quote }) => {
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

function tagsIn(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim())
  return [...new Set(tags.filter((tag) => tag !== ''))]
}

/** Merges the form into the metadata of the client; the service keeps annotation and origin. */
function metadataOf(
  question: GoldenQuestion | undefined,
  expect: readonly Record<string, unknown>[],
  hasAnswer: boolean,
  said: boolean | undefined,
): Record<string, unknown> {
  const { annotation: _, origin: __, expect: ___, answerable: ____, ...own } = question?.metadata ?? {}
  return {
    ...own,
    ...(expect.length === 0 ? {} : { expect }),
    // a question that was marked unanswerable and has an answer now is marked answerable; a judgement may override it
    ...(hasAnswer ? (said === false ? { answerable: true } : {}) : { answerable: false }),
  }
}
