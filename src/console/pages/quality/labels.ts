import type { FailedQuery, FailedQueryStatus, FailedQueryTrigger } from '../../../contract/gateway/failed-queries.js'
import { isRecord } from '../../api/session.js'
import type { Tone } from '../../ui/state.js'

export const STATUS_LABELS: Record<FailedQueryStatus, { short: string; tone: Tone }> = {
  'pending-triage': { short: 'new', tone: 'accent' },
  triaged: { short: 'sorted', tone: 'neutral' },
  'pending-annotation': { short: 'unclear', tone: 'warn' },
  annotated: { short: 'not covered', tone: 'neutral' },
  dismissed: { short: 'dismissed', tone: 'neutral' },
  promoted: { short: 'golden', tone: 'good' },
}

export const TRIGGER_LABELS: Record<FailedQueryTrigger, string> = {
  'no-retrieval-evidence': 'no answer found',
  'low-confidence': 'answered in part',
  abstained: 'the model cited nothing',
}

/** The verdict of triage as a sentence. */
export const VERDICT_SENTENCES: Record<string, string> = {
  'retrieval-miss': 'The space probably contains the answer, but retrieval missed it.',
  'coverage-gap': 'The space covers the subject, but no document contains the answer.',
  irrelevant: 'The question is outside the subject of this space.',
  uncertain: 'The evidence is not sufficient to decide.',
}

export const CAUSE_LABELS: Record<string, string> = {
  spelling: 'spelled differently in the documents',
  'other-words': 'the documents use other words',
  'other-language': 'asked in another language',
  'several-questions': 'several questions in one',
  'long-question': 'a long question',
  'limited-to-documents': 'limited to some documents',
  'below-threshold': 'below the score threshold',
  withheld: 'withheld from the caller',
  'published-later': 'published after it was asked',
  'not-published': 'a document of this name is not published',
  'kind-missing': 'the requested kind of content is missing',
}

export interface RecordedTriage {
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

/** Reads the result of triage from the query's metadata, which the contract leaves free-form. */
export function readTriage({ metadata }: FailedQuery): RecordedTriage | undefined {
  const { triage } = metadata
  if (!isRecord(triage) || typeof triage.verdict !== 'string') return undefined
  return {
    verdict: triage.verdict,
    triager: typeof triage.triager === 'string' ? triage.triager : '',
    best: toNumber(triage.best),
    known: toNumber(triage.known),
    nearest: toNumber(triage.nearest),
    causes: toStrings(triage.causes),
    suggested: toStrings(triage.suggestedEvidenceIds),
    unpublished: toStrings(triage.unpublished),
    wanted: toStrings(triage.wanted),
  }
}

/** Reads the verdict of a user and who gave it. */
export function readVerdict({
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

const toNumber = (value: unknown) => (typeof value === 'number' ? value : undefined)
const toStrings = (value: unknown): string[] =>
  Array.isArray(value) ? value.flatMap((one: unknown) => (typeof one === 'string' ? [one] : [])) : []
