import * as Flags from '@oclif/core/flags'
import type { ExpectedAnswer } from '../../contract/gateway/golden-questions.js'
import { EVIDENCE_STATES } from '../../contract/values.js'
import { omitUndefined } from '../../lib/omit-undefined.js'

const MULTIPLE_TEXTS = { multiple: true, multipleNonGreedy: true, helpValue: 'text' } as const

/** Flags of the expected answer of a golden question. */
export const expectFlags = {
  'expect-answer': Flags.string({ ...MULTIPLE_TEXTS, description: 'text that the answer must contain; repeatable' }),
  'expect-not': Flags.string({ ...MULTIPLE_TEXTS, description: 'text that the answer must not contain; repeatable' }),
  'expect-state': Flags.option({ options: EVIDENCE_STATES, description: 'expected evidence state of the answer' })(),
}

interface ExpectedAnswerFlags {
  'expect-answer'?: string[] | undefined
  'expect-not'?: string[] | undefined
  'expect-state'?: (typeof EVIDENCE_STATES)[number] | undefined
}

/** @returns undefined if none of the flags is given */
export function readExpectedAnswer(flags: ExpectedAnswerFlags): ExpectedAnswer | undefined {
  const expect = omitUndefined({
    answer: flags['expect-answer'],
    not: flags['expect-not'],
    state: flags['expect-state'],
  })
  return Object.keys(expect).length === 0 ? undefined : expect
}
