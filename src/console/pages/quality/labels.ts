import type { FailedQuery, FailedQueryStatus, FailedQueryTrigger } from '../../../contract/gateway/failed-queries.js'
import { isRecord } from '../../api/session.js'
import type { Tone } from '../../ui/state.js'

export const STATUS_LABELS: Record<FailedQueryStatus, { label: string; tone: Tone }> = {
  'pending-triage': { label: 'new', tone: 'accent' },
  triaged: { label: 'sorted', tone: 'neutral' },
  'pending-annotation': { label: 'unclear', tone: 'warn' },
  annotated: { label: 'not covered', tone: 'neutral' },
  dismissed: { label: 'dismissed', tone: 'neutral' },
  promoted: { label: 'golden', tone: 'good' },
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

/** Result of triage; numbers are undefined if they were not measured. */
export interface RecordedTriage {
  verdict: string
  /** method that triaged the query; its name starts with `model` if a model did */
  triager: string
  /** fraction of the question that the best passage covers */
  bestCoverage: number | undefined
  /** fraction of the words of the question that the space contains */
  knownWords: number | undefined
  /** similarity of the nearest vector */
  nearestSimilarity: number | undefined
  causes: readonly string[]
  /** ids of passages that should probably have been found */
  suggestedIds: readonly string[]
  /** names of documents that are not published */
  unpublished: readonly string[]
  missingContent: readonly string[]
}

/** Reads the result of triage from the query's metadata, which the contract leaves free-form. */
export function readTriage({ metadata }: FailedQuery): RecordedTriage | undefined {
  const { triage } = metadata
  if (!isRecord(triage) || typeof triage.verdict !== 'string') return undefined
  return {
    verdict: triage.verdict,
    triager: typeof triage.triager === 'string' ? triage.triager : '',
    bestCoverage: toNumber(triage.best),
    knownWords: toNumber(triage.known),
    nearestSimilarity: toNumber(triage.nearest),
    causes: toStrings(triage.causes),
    suggestedIds: toStrings(triage.suggestedEvidenceIds),
    unpublished: toStrings(triage.unpublished),
    missingContent: toStrings(triage.wanted),
  }
}

/** Verdict of a user. */
interface RecordedVerdict {
  verdict: string
  /** identity of the user; '' if unknown */
  subject: string
  note: string | undefined
}

/** Reads the verdict of a user from the query's metadata. */
export function readVerdict({ metadata }: FailedQuery): RecordedVerdict | undefined {
  if (!isRecord(metadata.verdict)) return undefined
  const { verdict, actorSubjectId, note } = metadata.verdict
  if (typeof verdict !== 'string') return undefined
  return {
    verdict,
    subject: typeof actorSubjectId === 'string' ? actorSubjectId : '',
    note: typeof note === 'string' ? note : undefined,
  }
}

const toNumber = (value: unknown) => (typeof value === 'number' ? value : undefined)
const toStrings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item: unknown) => typeof item === 'string') : []
