import { useState } from 'react'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import { formatMoment, plural } from '../../ui/format.js'
import { Badge, Notice, type Tone } from '../../ui/state.js'
import { Quoted } from '../../viewer/quoted.js'
import { filenameOf, type Measured, type Outcome } from './expected.js'
import { type Change, type Difference, differencesOf, type Run } from './runs.js'

const OUTCOME: Record<Outcome, { said: string; tone: Tone }> = {
  passed: { said: 'passed', tone: 'good' },
  partly: { said: 'in part', tone: 'warn' },
  failed: { said: 'failed', tone: 'bad' },
}

const CHANGE: Record<Change, { said: string; tone: Tone }> = {
  worse: { said: 'worse', tone: 'bad' },
  better: { said: 'better', tone: 'good' },
  evidence: { said: 'other evidence', tone: 'warn' },
  added: { said: 'only after', tone: 'accent' },
  removed: { said: 'only before', tone: 'neutral' },
  same: { said: 'same', tone: 'neutral' },
}

interface CompareProps {
  golden: readonly GoldenQuestion[]
  before: ReadonlyMap<string, Measured> | undefined
  after: ReadonlyMap<string, Measured>
  beforeRun: Run | undefined
  afterRun: Run
  spaceId: string
}

/** Comparison of two runs by question; the results of one run if there is no other. */
export function Compare({ golden, before, after, beforeRun, afterRun, spaceId }: CompareProps) {
  const [isAll, setAll] = useState(false)
  const all = differencesOf(golden, before ?? new Map(), after)
  const isPair = beforeRun !== undefined && before !== undefined
  const shown = isAll || !isPair ? all : all.filter(({ change }) => change !== 'same')
  const count = (change: Change) => all.filter((one) => one.change === change).length
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
            <input type="checkbox" checked={isAll} onChange={(event) => setAll(event.target.checked)} />
            Also what stayed the same
          </label>
        )}
      </header>
      {isPair && (
        <p className="row">
          {(['worse', 'better', 'evidence', 'added', 'removed', 'same'] as const)
            .filter((change) => count(change) > 0)
            .map((change) => (
              <Badge key={change} tone={CHANGE[change].tone}>
                {count(change)} {CHANGE[change].said}
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
          <Row key={difference.question.id} difference={difference} isPair={isPair} spaceId={spaceId} />
        ))}
      </ul>
    </section>
  )
}

function Row({ difference, isPair, spaceId }: { difference: Difference; isPair: boolean; spaceId: string }) {
  const { question, before, after, change, gained, lost } = difference
  const moved = gained.length + lost.length
  return (
    <li className="compare-item">
      <div className="compare-row">
        <p className="wrap compare-question">{question.question}</p>
        <p className="row">
          {isPair && <Result of={before} expectsAnswer={question.expect !== undefined} />}
          {isPair && <span aria-hidden="true">→</span>}
          <Result of={after} expectsAnswer={question.expect !== undefined} />
          {isPair && <Badge tone={CHANGE[change].tone}>{CHANGE[change].said}</Badge>}
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
      {moved > 0 && (
        <details>
          <summary className="small">
            {plural(gained.length, 'passage')} gained, {lost.length} lost
          </summary>
          <div className="compare-evidence">
            {[...gained.map((item) => ['good', item] as const), ...lost.map((item) => ['bad', item] as const)].map(
              ([tone, item]) =>
                item.citations[0] !== undefined && (
                  <Quoted
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

function Result({ of, expectsAnswer }: { of: Measured | undefined; expectsAnswer: boolean }) {
  if (of === undefined) return <Badge>not asked</Badge>
  const { said, tone } = OUTCOME[of.outcome]
  return (
    <Badge tone={tone}>
      {said}
      {of.recall !== undefined && of.recall < 1 && ` · ${Math.round(of.recall * 100)} % found`}
      {of.answer?.isRight === false && ' · wrong answer'}
      {expectsAnswer && of.answer === undefined && ' · answer not compared'}
    </Badge>
  )
}
