import type { FailedQuery, FailedQueryStatus, FailedQueryTrigger } from '../../../contract/gateway/failed-queries.js'
import { isRecord } from '../../api/session.js'
import type { Tone } from '../../ui/state.js'

export const STATUS: Record<FailedQueryStatus, { short: string; tone: Tone }> = {
  'pending-triage': { short: 'new', tone: 'accent' },
  triaged: { short: 'sorted', tone: 'neutral' },
  'pending-annotation': { short: 'unclear', tone: 'warn' },
  annotated: { short: 'not covered', tone: 'neutral' },
  dismissed: { short: 'dismissed', tone: 'neutral' },
  promoted: { short: 'golden', tone: 'good' },
}

export const TRIGGER: Record<FailedQueryTrigger, string> = {
  'no-retrieval-evidence': 'no answer found',
  'low-confidence': 'answered in part',
  abstained: 'the model cited nothing',
}

/** What triage thinks, in a sentence. */
export const VERDICT: Record<string, string> = {
  'retrieval-miss': 'The space seems to hold it, and it was not answered from.',
  'coverage-gap': 'The space is about this, but nothing says what is asked for.',
  irrelevant: 'It is about something else than this space.',
  uncertain: 'It could not be told from the evidence.',
}

export const CAUSE: Record<string, string> = {
  spelling: 'spelt otherwise in the documents',
  'other-words': 'the documents use other words',
  'other-language': 'asked in another language',
  'several-questions': 'several questions in one',
  'long-question': 'a long question',
  'limited-to-documents': 'limited to some documents',
  'below-threshold': 'below the score threshold',
  withheld: 'withheld from who asked',
  'published-later': 'published after it was asked',
  'not-published': 'a document of this name is not published',
  'kind-missing': 'the kind of thing asked for is missing',
}

export interface Triage {
  verdict: string
  triager: string
  best: number | undefined
  known: number | undefined
  nearest: number | undefined
  causes: readonly string[]
  suggested: readonly string[]
  unpublished: readonly string[]
  wanted: readonly string[]
}

/** What triage noted, which is free metadata in the contract. */
export function triageOf({ metadata }: FailedQuery): Triage | undefined {
  const { triage } = metadata
  if (!isRecord(triage) || typeof triage.verdict !== 'string') return undefined
  return {
    verdict: triage.verdict,
    triager: typeof triage.triager === 'string' ? triage.triager : '',
    best: numberOf(triage.best),
    known: numberOf(triage.known),
    nearest: numberOf(triage.nearest),
    causes: textsOf(triage.causes),
    suggested: textsOf(triage.suggestedEvidenceIds),
    unpublished: textsOf(triage.unpublished),
    wanted: textsOf(triage.wanted),
  }
}

/** What somebody decided, and where the golden question is that came of it. */
export function verdictOf({
  metadata,
}: FailedQuery): { verdict: string; by: string; note: string | undefined } | undefined {
  const { verdict } = metadata
  if (!isRecord(verdict) || typeof verdict.verdict !== 'string') return undefined
  const { actorSubjectId: by } = verdict
  return {
    verdict: verdict.verdict,
    by: typeof by === 'string' ? by : '',
    note: typeof verdict.note === 'string' ? verdict.note : undefined,
  }
}

const numberOf = (value: unknown) => (typeof value === 'number' ? value : undefined)
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.flatMap((one: unknown) => (typeof one === 'string' ? [one] : [])) : []
