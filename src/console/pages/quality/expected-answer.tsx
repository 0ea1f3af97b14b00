import type { ExpectedAnswer } from '../../../contract/gateway/golden-questions.js'
import { LIMITS } from '../../../contract/limits.js'
import { EVIDENCE_STATES } from '../../../contract/values.js'
import { Field } from '../../ui/parts.js'

const MAX_CHARS = LIMITS.expectedTexts * LIMITS.expectedText

/** The form fields of an expected answer: one text a line. */
export interface AnswerFields {
  contains: string
  excludes: string
  state: string
}

export function toAnswerFields({ answer = [], not = [], state }: ExpectedAnswer = {}): AnswerFields {
  // a line is one text; comparisons collapse white space anyway
  const joinLines = (texts: readonly string[]) => texts.map((text) => text.replace(/\s+/g, ' ')).join('\n')
  return { contains: joinLines(answer), excludes: joinLines(not), state: state ?? '' }
}

/** @returns undefined if no field is filled in */
export function toExpectedAnswer({ contains, excludes, state }: AnswerFields): ExpectedAnswer | undefined {
  const answer = parseLines(contains)
  const not = parseLines(excludes)
  const known = EVIDENCE_STATES.find((one) => one === state)
  if (answer.length + not.length === 0 && known === undefined) return undefined
  return {
    ...(answer.length === 0 ? {} : { answer }),
    ...(not.length === 0 ? {} : { not }),
    ...(known === undefined ? {} : { state: known }),
  }
}

function parseLines(text: string): string[] {
  const lines = text.split('\n').map((line) => line.trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}

interface ExpectedAnswerFieldsProps {
  fields: AnswerFields
  onChange: (fields: AnswerFields) => void
}

/** Fields for the texts that the answer contains or not, and for the state of its evidence. */
export function ExpectedAnswerFields({ fields, onChange }: ExpectedAnswerFieldsProps) {
  const texts = (name: 'contains' | 'excludes', label: string, hint: string) => (
    <Field label={label} hint={hint}>
      {(given) => (
        <textarea
          {...given}
          className="textarea"
          rows={2}
          maxLength={MAX_CHARS}
          value={fields[name]}
          onChange={(event) => onChange({ ...fields, [name]: event.target.value })}
        />
      )}
    </Field>
  )
  return (
    <>
      {texts(
        'contains',
        'Answer contains',
        'Optional: one text per line; the answer must contain all of them. Case and spaces may differ.',
      )}
      {texts('excludes', 'Answer does not contain', 'Optional: one text per line.')}
      <Field label="Evidence state" hint="Optional.">
        {(given) => (
          <select
            {...given}
            className="select"
            value={fields.state}
            onChange={(event) => onChange({ ...fields, state: event.target.value })}
          >
            <option value="">any</option>
            {EVIDENCE_STATES.map((state) => (
              <option key={state} value={state}>
                {state}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  )
}
