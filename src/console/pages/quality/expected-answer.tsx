import type { ExpectedAnswer } from '../../../contract/gateway/golden-questions.js'
import { LIMITS } from '../../../contract/limits.js'
import { EVIDENCE_STATES } from '../../../contract/values.js'
import { SelectField, TextAreaField } from '../../ui/fields.js'
import { splitTrimmed } from '../../ui/format.js'

const MAX_CHARS = LIMITS.expectedTexts * LIMITS.expectedText

/** The form fields of an expected answer. */
export interface AnswerFields {
  /** one text a line */
  contains: string
  excludes: string
  /** evidence state; '' for any */
  state: string
}

export function toAnswerFields({ answer = [], not = [], state }: ExpectedAnswer = {}): AnswerFields {
  // line breaks in a text become spaces: comparisons ignore the kind of white space
  const joinLines = (texts: readonly string[]) => texts.map((text) => text.replace(/\s+/g, ' ')).join('\n')
  return { contains: joinLines(answer), excludes: joinLines(not), state: state ?? '' }
}

/** @returns undefined if no field is filled in */
export function toExpectedAnswer({ contains, excludes, state }: AnswerFields): ExpectedAnswer | undefined {
  const answer = [...new Set(splitTrimmed(contains, '\n'))]
  const not = [...new Set(splitTrimmed(excludes, '\n'))]
  const evidenceState = EVIDENCE_STATES.find((candidate) => candidate === state)
  if (answer.length + not.length === 0 && evidenceState === undefined) return undefined
  return {
    ...(answer.length === 0 ? {} : { answer }),
    ...(not.length === 0 ? {} : { not }),
    ...(evidenceState === undefined ? {} : { state: evidenceState }),
  }
}

interface ExpectedAnswerFieldsProps {
  fields: AnswerFields
  onChange: (fields: AnswerFields) => void
}

/** Fields for the texts that the answer contains or not, and for the state of its evidence. */
export function ExpectedAnswerFields({ fields, onChange }: ExpectedAnswerFieldsProps) {
  return (
    <>
      <TextAreaField
        label="Answer contains"
        hint="Optional: one text per line; the answer must contain all of them. Case and spaces may differ."
        rows={2}
        maxLength={MAX_CHARS}
        value={fields.contains}
        onChange={(event) => onChange({ ...fields, contains: event.target.value })}
      />
      <TextAreaField
        label="Answer does not contain"
        hint="Optional: one text per line."
        rows={2}
        maxLength={MAX_CHARS}
        value={fields.excludes}
        onChange={(event) => onChange({ ...fields, excludes: event.target.value })}
      />
      <SelectField
        label="Evidence state"
        hint="Optional."
        value={fields.state}
        onChange={(event) => onChange({ ...fields, state: event.target.value })}
      >
        <option value="">any</option>
        {EVIDENCE_STATES.map((state) => (
          <option key={state}>{state}</option>
        ))}
      </SelectField>
    </>
  )
}
