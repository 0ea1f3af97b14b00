import { useEffect, useRef, useState } from 'react'
import type { FailedQuery, FailedQueryVerdict } from '../../../contract/gateway/failed-queries.js'
import { messageOf } from '../../api/client.js'
import { useRead, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatMoment, plural } from '../../ui/format.js'
import { Badge, Notice } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'
import {
  CAUSE_LABELS,
  type RecordedTriage,
  readTriage,
  readVerdict,
  STATUS_LABELS,
  TRIGGER_LABELS,
  VERDICT_SENTENCES,
} from './labels.js'
import { PassageChoice } from './passages.js'

const DECISIONS: readonly { verdict: FailedQueryVerdict; key: string; title: string; message: string }[] = [
  { verdict: 'retrieval-miss', key: 'm', title: 'Missed: make it golden', message: 'It is a golden question now.' },
  { verdict: 'coverage-gap', key: 'c', title: 'Not covered', message: 'Documents are missing for it.' },
  { verdict: 'irrelevant', key: 'i', title: 'Irrelevant', message: 'Dismissed.' },
]

interface DecisionCardProps {
  failedQuery: FailedQuery
  spaceId: string
  /** `3 of 20` */
  position: string
  /** called with 1 for the next query, -1 for the previous one */
  onMove: (step: number) => void
}

/** One failed query: its triage, the passages found, and the buttons that decide. */
export function DecisionCard({ failedQuery, spaceId, position, onMove }: DecisionCardProps) {
  const triage = readTriage(failedQuery)
  const previous = readVerdict(failedQuery)
  const [expectedIds, setExpectedIds] = useState<ReadonlySet<string>>(new Set(triage?.suggestedIds.slice(0, 1)))
  const [note, setNote] = useState(previous?.note ?? '')
  const noteField = useRef<HTMLTextAreaElement>(null)
  const write = useWrite('PATCH /knowledge-spaces/{id}/failed-queries/{failedQueryId}', [
    'GET /knowledge-spaces/{id}/failed-queries',
    'GET /knowledge-spaces/{id}/failed-queries/metrics',
    'GET /knowledge-spaces/{id}/golden-questions',
  ])
  const decide = ({ verdict, message }: (typeof DECISIONS)[number]) => {
    if (write.isPending) return
    const body = {
      verdict,
      ...(verdict === 'retrieval-miss' ? { expectedEvidenceIds: [...expectedIds] } : {}),
      ...(note.trim() === '' ? {} : { note: note.trim() }),
    }
    // the next query replaces this component before the response, so callbacks of `mutate` would not run
    write.mutateAsync({ path: { id: spaceId, failedQueryId: failedQuery.id }, body }).then(
      () => showToast(message),
      () => undefined,
    )
  }
  useKeys((key) => {
    const decision = DECISIONS.find((candidate) => candidate.key === key)
    if (key === 'j') onMove(1)
    else if (key === 'k') onMove(-1)
    else if (key === 'n') noteField.current?.focus()
    else if (decision !== undefined) decide(decision)
    else return false
    return true
  })
  const { occurrences } = failedQuery.metadata
  return (
    <section className="panel decide" aria-label="Failed query">
      <div className="row decide-top">
        <span className="small faint number">{position}</span>
        <span className="row">
          <Button small kind="quiet" onClick={() => onMove(-1)}>
            <kbd>k</kbd> Previous
          </Button>
          <Button small kind="quiet" onClick={() => onMove(1)}>
            <kbd>j</kbd> Next
          </Button>
        </span>
      </div>
      <h2 className="wrap">{failedQuery.query}</h2>
      <p className="row small muted">
        <Badge tone={STATUS_LABELS[failedQuery.status].tone}>{STATUS_LABELS[failedQuery.status].label}</Badge>
        <span>{TRIGGER_LABELS[failedQuery.trigger]}</span>
        <span>mode {failedQuery.mode}</span>
        {typeof occurrences === 'number' && occurrences > 1 && <span>asked {plural(occurrences, 'time')}</span>}
        <span>{formatMoment(failedQuery.createdAt)}</span>
      </p>
      {previous !== undefined && (
        <Notice>
          Decided: {DECISIONS.find(({ verdict }) => verdict === previous.verdict)?.title ?? previous.verdict}
          {previous.subject === '' ? '' : `, by ${previous.subject}`}. A key changes it.
        </Notice>
      )}
      <TriageSummary triage={triage} />
      <ExpectedPassages
        failedQuery={failedQuery}
        spaceId={spaceId}
        suggestedIds={triage?.suggestedIds ?? []}
        expectedIds={expectedIds}
        setExpectedIds={setExpectedIds}
      />
      <label className="field">
        <span className="small">
          Note <kbd>n</kbd>
        </span>
        <textarea
          ref={noteField}
          className="textarea"
          rows={2}
          maxLength={2000}
          value={note}
          onChange={(event) => setNote(event.target.value)}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
      </label>
      {write.isError && <Notice tone="bad">{messageOf(write.error)}</Notice>}
      <div className="row decide-keys">
        {DECISIONS.map((decision) => (
          <Button
            key={decision.verdict}
            kind={decision.verdict === 'retrieval-miss' ? 'primary' : 'plain'}
            disabled={write.isPending}
            onClick={() => decide(decision)}
          >
            {decision.title} <kbd>{decision.key}</kbd>
          </Button>
        ))}
      </div>
    </section>
  )
}

function TriageSummary({ triage }: { triage: RecordedTriage | undefined }) {
  if (triage === undefined) return <p className="muted">Not sorted yet: the button above searches for evidence.</p>
  const toPercent = (value: number | undefined) => (value === undefined ? 'none' : `${Math.round(value * 100)} %`)
  return (
    <div className="decide-triage">
      <p>
        <strong>{VERDICT_SENTENCES[triage.verdict] ?? triage.verdict}</strong>{' '}
        <span className="small faint">{triage.triager.startsWith('model') ? 'by a model' : 'by rules'}</span>
      </p>
      <p className="small muted">
        Best passage covers {toPercent(triage.bestCoverage)} of the question; the space contains{' '}
        {toPercent(triage.knownWords)} of its words; nearest vector{' '}
        {triage.nearestSimilarity === undefined ? 'none' : triage.nearestSimilarity.toFixed(2)}.
      </p>
      {triage.causes.length > 0 && (
        <p className="row">
          {triage.causes.map((cause) => (
            <Badge key={cause} tone="warn">
              {CAUSE_LABELS[cause] ?? cause}
            </Badge>
          ))}
        </p>
      )}
      {triage.unpublished.length > 0 && <p className="small wrap">Not published: {triage.unpublished.join(', ')}</p>}
      {triage.missingContent.length > 0 && (
        <p className="small wrap">Missing content: {triage.missingContent.join('; ')}</p>
      )}
    </div>
  )
}

interface ExpectedPassagesProps {
  failedQuery: FailedQuery
  spaceId: string
  /** ids of the passages that triage suggests */
  suggestedIds: readonly string[]
  expectedIds: ReadonlySet<string>
  setExpectedIds: (ids: ReadonlySet<string>) => void
}

/** Number of passages to choose from; suggested ones are always among them. */
const PASSAGE_COUNT = 5

/**
 * Passages that a search finds now, those that triage suggests first; the user ticks the ones that should answer the
 * query.
 */
function ExpectedPassages({ failedQuery, spaceId, suggestedIds, ...choice }: ExpectedPassagesProps) {
  const search = useRead('POST /knowledge-spaces/{id}/queries/search', {
    path: { id: spaceId },
    body: { query: failedQuery.query, limit: 50 },
  })
  const foundPassages = search.data?.items ?? []
  const foundById = new Map(foundPassages.map((item) => [item.nodeId, item]))
  const suggested = suggestedIds.flatMap((id) => foundById.get(id) ?? [])
  const passages = [...suggested, ...foundPassages.filter(({ nodeId }) => !suggestedIds.includes(nodeId))].slice(
    0,
    Math.max(PASSAGE_COUNT, suggested.length),
  )
  return (
    <PassageChoice
      {...choice}
      title="Which passages should answer it?"
      query={search}
      passages={passages}
      suggestedIds={suggestedIds}
      notFoundIds={suggestedIds.filter((id) => !foundById.has(id))}
      spaceId={spaceId}
    />
  )
}

/** Elements in which keys are text or have another meaning. */
const KEY_CONSUMERS = 'input:not([type=checkbox]), textarea, select, dialog'

/**
 * Keyboard shortcuts of this page; keys typed into a field or a dialog are ignored.
 *
 * @param onKey returns whether the key is a shortcut
 */
function useKeys(onKey: (key: string) => boolean): void {
  const latest = useRef(onKey)
  latest.current = onKey
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { target } = event
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return
      if (target instanceof Element && target.closest(KEY_CONSUMERS) !== null) return
      if (document.querySelector('dialog[open]') !== null) return
      if (latest.current(event.key)) event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
}
