import { useState } from 'react'
import type { GoldenRun, GoldenRunResult } from '../../../contract/gateway/golden-runs.js'
import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import { useRead } from '../../api/use.js'
import { formatMoment, plural } from '../../ui/format.js'
import { Badge, Notice, type Tone } from '../../ui/state.js'
import { QuotedPassage } from '../../viewer/quoted-passage.js'
import { listEvidence } from './expectation.js'
import { CHANGE_ORDER, compareRuns, type QuestionDifference, type RunChange } from './runs.js'

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
  /** the earlier run; undefined if there is no other run */
  before: RunWithResults | undefined
  after: RunWithResults
  spaceId: string
}

interface RunWithResults {
  run: GoldenRun
  results: readonly GoldenRunResult[]
}

/** Comparison of two runs by question; the results of one run if there is no other. */
export function Compare({ before, after, spaceId }: CompareProps) {
  const [showsAll, setShowsAll] = useState(false)
  const differences = compareRuns(before?.results ?? [], after.results)
  const isPair = before !== undefined
  const shown = showsAll || !isPair ? differences : differences.filter(({ change }) => change !== 'same')
  const count = (change: RunChange) => differences.filter((difference) => difference.change === change).length
  return (
    <section className="panel stack" aria-label="Comparison">
      <header className="row compare-head">
        <h2>
          {isPair && `${formatMoment(before.run.createdAt)} → `}
          {formatMoment(after.run.createdAt)}
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
          {CHANGE_ORDER.filter((change) => count(change) > 0).map((change) => (
            <Badge key={change} tone={CHANGE_LABELS[change].tone}>
              {count(change)} {CHANGE_LABELS[change].label}
            </Badge>
          ))}
          {before.run.mode !== after.run.mode && (
            <span className="small muted">
              modes differ: {before.run.mode ?? 'default'} → {after.run.mode ?? 'default'}
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

interface DifferenceRowProps {
  difference: QuestionDifference
  /** whether two runs are compared */
  isPair: boolean
  spaceId: string
}

function DifferenceRow({ difference, isPair, spaceId }: DifferenceRowProps) {
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

/** Passages that only one of the runs found; their traces are read when the list is opened. */
function ChangedPassages({ difference, spaceId }: { difference: QuestionDifference; spaceId: string }) {
  const { gained, lost, before, after } = difference
  const [isOpen, setOpen] = useState(false)
  const gainedItems = useEvidence(isOpen && gained.length > 0 ? after?.traceId : undefined)
  const lostItems = useEvidence(isOpen && lost.length > 0 ? before?.traceId : undefined)
  if (gained.length + lost.length === 0) return null
  const passages = [
    ...gained.map((index) => ({ tone: 'good' as const, label: 'gained', item: gainedItems[index] })),
    ...lost.map((index) => ({ tone: 'bad' as const, label: 'lost', item: lostItems[index] })),
  ]
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="small">
        {plural(gained.length, 'passage')} gained, {lost.length} lost
      </summary>
      <div className="compare-evidence">
        {passages.map(
          ({ tone, label, item }) =>
            item !== undefined && (
              <QuotedPassage
                key={`${tone}-${item.nodeId}`}
                tone={tone}
                spaceId={spaceId}
                passage={item}
                aside={<Badge tone={tone}>{label}</Badge>}
              />
            ),
        )}
      </div>
    </details>
  )
}

/** The evidence of a trace; empty while the trace is read, and if it was deleted. */
function useEvidence(traceId: string | undefined): readonly EvidenceItem[] {
  const input = { path: { traceId: traceId ?? '' } }
  const trace = useRead('GET /queries/{traceId}', input, { enabled: traceId !== undefined })
  return trace.data === undefined ? [] : listEvidence(trace.data)
}

/** Lists why a result did not pass: `not in the answer: “four weeks”`. */
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
