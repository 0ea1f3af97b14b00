import { useState } from 'react'
import type { GoldenRun, GoldenRunResult } from '../../../contract/gateway/golden-runs.js'
import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import { useRead } from '../../api/use.js'
import { formatMoment, plural } from '../../ui/format.js'
import { Badge, Notice, type Tone } from '../../ui/state.js'
import { QuotedPassage } from '../../viewer/quoted-passage.js'
import { evidenceItemsOf, filenameOf } from './expectation.js'
import { compareRuns, type QuestionDifference, type RunChange } from './runs.js'

const OUTCOME_LABELS: Record<NonNullable<GoldenRunResult['outcome']>, { label: string; tone: Tone }> = {
  passed: { label: 'passed', tone: 'good' },
  partly: { label: 'in part', tone: 'warn' },
  failed: { label: 'failed', tone: 'bad' },
}

const CHANGE_LABELS: Record<RunChange, { label: string; tone: Tone }> = {
  worse: { label: 'worse', tone: 'bad' },
  better: { label: 'better', tone: 'good' },
  evidence: { label: 'other evidence', tone: 'warn' },
  added: { label: 'only after', tone: 'accent' },
  removed: { label: 'only before', tone: 'neutral' },
  same: { label: 'same', tone: 'neutral' },
}

interface CompareProps {
  before: readonly GoldenRunResult[] | undefined
  after: readonly GoldenRunResult[]
  beforeRun: GoldenRun | undefined
  afterRun: GoldenRun
  spaceId: string
}

/** Comparison of two runs by question; the results of one run if there is no other. */
export function Compare({ before, after, beforeRun, afterRun, spaceId }: CompareProps) {
  const [showsAll, setShowsAll] = useState(false)
  const differences = compareRuns(before ?? [], after)
  const isPair = beforeRun !== undefined && before !== undefined
  const shown = showsAll || !isPair ? differences : differences.filter(({ change }) => change !== 'same')
  const count = (change: RunChange) => differences.filter((one) => one.change === change).length
  return (
    <section className="panel stack" aria-label="Comparison">
      <header className="row compare-head">
        <h2>
          {isPair
            ? `${formatMoment(beforeRun.createdAt)} → ${formatMoment(afterRun.createdAt)}`
            : formatMoment(afterRun.createdAt)}
        </h2>
        {isPair && (
          <label className="row small">
            <input type="checkbox" checked={showsAll} onChange={(event) => setShowsAll(event.target.checked)} />
            Also what stayed the same
          </label>
        )}
      </header>
      {isPair && (
        <p className="row">
          {(['worse', 'better', 'evidence', 'added', 'removed', 'same'] as const)
            .filter((change) => count(change) > 0)
            .map((change) => (
              <Badge key={change} tone={CHANGE_LABELS[change].tone}>
                {count(change)} {CHANGE_LABELS[change].label}
              </Badge>
            ))}
          {beforeRun.mode !== afterRun.mode && (
            <span className="small muted">
              modes differ: {beforeRun.mode ?? 'default'} → {afterRun.mode ?? 'default'}
            </span>
          )}
        </p>
      )}
      {shown.length === 0 && <Notice tone="good">Every question has the same result and passages as before.</Notice>}
      <ul className="compare-list">
        {shown.map((difference) => (
          <DifferenceRow key={difference.id} difference={difference} isPair={isPair} spaceId={spaceId} />
        ))}
      </ul>
    </section>
  )
}

function DifferenceRow({
  difference,
  isPair,
  spaceId,
}: {
  difference: QuestionDifference
  isPair: boolean
  spaceId: string
}) {
  const { question, before, after, change } = difference
  return (
    <li className="compare-item">
      <div className="compare-row">
        <p className="wrap compare-question">{question}</p>
        <p className="row">
          {isPair && <OutcomeBadge result={before} />}
          {isPair && <span aria-hidden="true">→</span>}
          <OutcomeBadge result={after} />
          {isPair && <Badge tone={CHANGE_LABELS[change].tone}>{CHANGE_LABELS[change].label}</Badge>}
          {before?.answer?.right === true && after?.answer?.right === false && <Badge tone="bad">answer broke</Badge>}
        </p>
        {listFaults(after).map((fault) => (
          <p key={fault} className="wrap small muted">
            {fault}
          </p>
        ))}
      </div>
      <ChangedPassages difference={difference} spaceId={spaceId} />
    </li>
  )
}

/** The passages that only one of the runs has; they are in the traces, which are read when the list is opened. */
function ChangedPassages({ difference, spaceId }: { difference: QuestionDifference; spaceId: string }) {
  const { gained, lost, before, after } = difference
  const [isOpen, setOpen] = useState(false)
  const gainedItems = useEvidence(isOpen && gained.length > 0 ? after?.traceId : undefined)
  const lostItems = useEvidence(isOpen && lost.length > 0 ? before?.traceId : undefined)
  if (gained.length + lost.length === 0) return null
  const pick = (tone: 'good' | 'bad', items: readonly EvidenceItem[], indexes: readonly number[]) =>
    indexes.flatMap((index) => {
      const item = items[index]
      return item === undefined ? [] : [[tone, item] as const]
    })
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="small">
        {plural(gained.length, 'passage')} gained, {lost.length} lost
      </summary>
      <div className="compare-evidence">
        {[...pick('good', gainedItems, gained), ...pick('bad', lostItems, lost)].map(
          ([tone, item]) =>
            item.citations[0] !== undefined && (
              <QuotedPassage
                key={`${tone}-${item.nodeId}`}
                tone={tone}
                spaceId={spaceId}
                citation={item.citations[0]}
                filename={filenameOf(item)}
                text={item.text}
                aside={<Badge tone={tone}>{tone === 'good' ? 'gained' : 'lost'}</Badge>}
              />
            ),
        )}
      </div>
    </details>
  )
}

/** The evidence of a trace; none while it is read, and of a deleted trace. */
function useEvidence(traceId: string | undefined): readonly EvidenceItem[] {
  const input = { path: { traceId: traceId ?? '' } }
  const trace = useRead('GET /queries/{traceId}', input, { enabled: traceId !== undefined })
  return trace.data === undefined ? [] : evidenceItemsOf(trace.data)
}

/** `not in the answer: “four weeks”` */
function listFaults(result: GoldenRunResult | undefined): string[] {
  const { missing = [], forbidden = [], wrongState } = result?.answer ?? {}
  return [
    ...missing.map((text) => `not in the answer: “${text}”`),
    ...forbidden.map((text) => `in the answer: “${text}”`),
    ...(wrongState === undefined ? [] : [`state ${wrongState.actual}, expected ${wrongState.expected}`]),
    ...(result?.unresolved ?? []),
    ...(result?.error === undefined ? [] : [result.error]),
  ]
}

function OutcomeBadge({ result }: { result: GoldenRunResult | undefined }) {
  if (result === undefined) return <Badge>not asked</Badge>
  if (result.outcome === undefined) return <Badge>{result.status}</Badge>
  const { label, tone } = OUTCOME_LABELS[result.outcome]
  return (
    <Badge tone={tone}>
      {label}
      {result.recall !== undefined && result.recall < 1 && ` · ${Math.round(result.recall * 100)} % found`}
      {result.answer?.right === false && ' · wrong answer'}
    </Badge>
  )
}
