import { useState } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { formatMoment, plural } from '../../ui/format.js'
import { Badge, Notice, type Tone } from '../../ui/state.js'
import { QuotedPassage } from '../../viewer/quoted-passage.js'
import { filenameOf, type QuestionOutcome, type QuestionResult } from './expectation.js'
import { compareRuns, type QuestionDifference, type RunChange, type TracedRun } from './runs.js'

const OUTCOME_LABELS: Record<QuestionOutcome, { label: string; tone: Tone }> = {
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
  golden: readonly GoldenQuestion[]
  before: ReadonlyMap<string, QuestionResult> | undefined
  after: ReadonlyMap<string, QuestionResult>
  beforeRun: TracedRun | undefined
  afterRun: TracedRun
  spaceId: string
}

/** Comparison of two runs by question; the results of one run if there is no other. */
export function Compare({ golden, before, after, beforeRun, afterRun, spaceId }: CompareProps) {
  const [showsAll, setShowsAll] = useState(false)
  const differences = compareRuns(golden, before ?? new Map(), after)
  const isPair = beforeRun !== undefined && before !== undefined
  const shown = showsAll || !isPair ? differences : differences.filter(({ change }) => change !== 'same')
  const count = (change: RunChange) => differences.filter((one) => one.change === change).length
  return (
    <section className="panel stack" aria-label="Comparison">
      <header className="row compare-head">
        <h2>
          {isPair
            ? `${formatMoment(beforeRun.startedAt)} → ${formatMoment(afterRun.startedAt)}`
            : formatMoment(afterRun.startedAt)}
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
              modes differ: {beforeRun.mode} → {afterRun.mode}
            </span>
          )}
        </p>
      )}
      {shown.length === 0 && <Notice tone="good">Every question has the same result and passages as before.</Notice>}
      <ul className="compare-list">
        {shown.map((difference) => (
          <DifferenceRow key={difference.question.id} difference={difference} isPair={isPair} spaceId={spaceId} />
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
  const { question, before, after, change, gained, lost } = difference
  const changedCount = gained.length + lost.length
  return (
    <li className="compare-item">
      <div className="compare-row">
        <p className="wrap compare-question">{question.question}</p>
        <p className="row">
          {isPair && <OutcomeBadge result={before} expectsAnswer={question.expect !== undefined} />}
          {isPair && <span aria-hidden="true">→</span>}
          <OutcomeBadge result={after} expectsAnswer={question.expect !== undefined} />
          {isPair && <Badge tone={CHANGE_LABELS[change].tone}>{CHANGE_LABELS[change].label}</Badge>}
          {before?.answer?.isRight === true && after?.answer?.isRight === false && (
            <Badge tone="bad">answer broke</Badge>
          )}
        </p>
        {after?.answer?.faults.map((fault) => (
          <p key={fault} className="wrap small muted">
            {fault}
          </p>
        ))}
      </div>
      {changedCount > 0 && (
        <details>
          <summary className="small">
            {plural(gained.length, 'passage')} gained, {lost.length} lost
          </summary>
          <div className="compare-evidence">
            {[...gained.map((item) => ['good', item] as const), ...lost.map((item) => ['bad', item] as const)].map(
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
      )}
    </li>
  )
}

function OutcomeBadge({ result, expectsAnswer }: { result: QuestionResult | undefined; expectsAnswer: boolean }) {
  if (result === undefined) return <Badge>not asked</Badge>
  const { label, tone } = OUTCOME_LABELS[result.outcome]
  return (
    <Badge tone={tone}>
      {label}
      {result.recall !== undefined && result.recall < 1 && ` · ${Math.round(result.recall * 100)} % found`}
      {result.answer?.isRight === false && ' · wrong answer'}
      {expectsAnswer && result.answer === undefined && ' · answer not compared'}
    </Badge>
  )
}
