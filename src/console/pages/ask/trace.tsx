import './trace.css'
import { type FormEvent, useState } from 'react'
import type { AnswerMetadata, AnswerTrace, EvidenceItem } from '../../../contract/gateway/queries.js'
import { messageOf } from '../../api/client.js'
import { useRead, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { TextField } from '../../ui/fields.js'
import { formatCount, formatMs, splitPath } from '../../ui/format.js'
import { Panel, ScrollFrame } from '../../ui/parts.js'
import { Badge, Loaded, Notice, type Tone } from '../../ui/state.js'

interface TraceViewProps {
  traceId: string
  spaceId: string
  metadata: AnswerMetadata
}

/** Details of a query: hits of each search, ranking, durations, and why a document is missing. */
export function TraceView({ traceId, spaceId, metadata }: TraceViewProps) {
  const trace = useRead('GET /queries/{traceId}', { path: { traceId } })
  return (
    <Panel title="How it was found">
      <div className="trace">
        <h3>Steps of the search</h3>
        <Funnel metadata={metadata} />
        <h3>Ranking</h3>
        <RankingTable items={metadata.evidenceBundle?.items ?? []} />
        <h3>Duration</h3>
        <Loaded query={trace}>{(loadedTrace) => <StepDurations trace={loadedTrace} />}</Loaded>
        <h3>Why is a document missing?</h3>
        <ExplainForm traceId={traceId} spaceId={spaceId} />
      </div>
    </Panel>
  )
}

/** Number of hits after each stage: those of the searches are merged and reduced. Bars have a logarithmic scale. */
function Funnel({ metadata }: { metadata: AnswerMetadata }) {
  const getMetric = (name: string) => {
    const value = metadata.metrics?.[name]
    return typeof value === 'number' ? value : undefined
  }
  const stages = [
    { title: 'By words', count: getMetric('ftsCandidateCount'), ms: getMetric('ftsMs'), isSearch: true },
    { title: 'By meaning', count: getMetric('denseCandidateCount'), ms: getMetric('denseMs'), isSearch: true },
    { title: 'Merged', count: getMetric('fusionCandidateCount') },
    { title: 'Reranked', count: getMetric('rerankCandidateCount'), ms: getMetric('fusionAndRerankMs') },
    { title: 'Shown', count: metadata.evidenceBundle?.items.length },
    { title: 'Cited', count: metadata.cited?.length },
  ].flatMap(({ count, ...stage }) => (count === undefined ? [] : [{ ...stage, count }]))
  const max = Math.max(1, ...stages.map(({ count }) => count))
  return (
    <ul className="funnel">
      {stages.map(({ title, count, ms, isSearch }) => (
        <li key={title} className={isSearch === true ? 'funnel-stage is-search' : 'funnel-stage'}>
          <span>{title}</span>
          <span className="funnel-track">
            <span className="funnel-bar" style={{ width: `${(Math.log1p(count) / Math.log1p(max)) * 100}%` }} />
          </span>
          <span className="funnel-value number">{formatCount(count)}</span>
          <span className="funnel-note faint small number">{ms === undefined ? '' : formatMs(ms)}</span>
        </li>
      ))}
    </ul>
  )
}

const MAX_MATCHED_WORDS = 5
const MATCH_LABELS: Record<string, string> = {
  words: 'words',
  meaning: 'meaning',
  'words-and-meaning': 'words and meaning',
}

function RankingTable({ items }: { items: readonly EvidenceItem[] }) {
  if (items.length === 0) return <p className="muted">No passage was selected.</p>
  return (
    <ScrollFrame label="Ranking">
      <table className="table ranking small">
        <thead>
          <tr>
            <th scope="col">#</th>
            <th scope="col">Document</th>
            <th scope="col">Found by</th>
            <th scope="col">Retrieval</th>
            <th scope="col">Reranked</th>
            <th scope="col">Freshness</th>
            <th scope="col">Score</th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ nodeId, scores, metadata }, index) => {
            const match = readMatch(metadata)
            return (
              <tr key={nodeId}>
                <td>{index + 1}</td>
                <td className="ranking-name one-line" title={String(metadata.filename ?? '')}>
                  {splitPath(String(metadata.filename ?? '')).name}
                </td>
                <td className="ranking-match">
                  {MATCH_LABELS[match.by] ?? match.by}
                  {match.words.length > 0 && (
                    <span className="faint"> {match.words.slice(0, MAX_MATCHED_WORDS).join(', ')}</span>
                  )}
                </td>
                <ScoreCell score={scores.retrieval} />
                <ScoreCell score={scores.rerank} />
                <ScoreCell score={scores.freshness} />
                <ScoreCell score={scores.final} />
              </tr>
            )
          })}
        </tbody>
      </table>
    </ScrollFrame>
  )
}

/** @param score from 0 to 1 */
function ScoreCell({ score }: { score: number | undefined }) {
  if (score === undefined) return <td className="faint">–</td>
  return (
    <td>
      <span className="score-track">
        <span className="score-bar" style={{ width: `${score * 100}%` }} />
      </span>
      <span className="number">{score.toFixed(2)}</span>
    </td>
  )
}

/** Reads which search found a passage, and the words that it matched. */
function readMatch(metadata: Record<string, unknown>): { by: string; words: string[] } {
  const { why } = metadata
  if (typeof why !== 'object' || why === null) return { by: '', words: [] }
  const by = 'by' in why ? String(why.by) : ''
  const words = 'words' in why && Array.isArray(why.words) ? why.words.map(String) : []
  return { by, words }
}

const STEP_LABELS: Record<string, string> = {
  'query.route': 'Choose the mode',
  'query.embed': 'Meaning of the question',
  'query.retrieve': 'Search and rank',
  'query.answer': 'Write the answer',
  'query.generate': 'Send the answer',
  'query.plan': 'Plan',
  'query.graph': 'Follow the graph',
}

/** Bars of the steps on a common time axis. */
function StepDurations({ trace }: { trace: AnswerTrace }) {
  const steps = trace.steps.map(({ name, status, startedAt, endedAt, metadata }) => {
    const startMs = new Date(startedAt).getTime()
    const endMs = new Date(endedAt ?? startedAt).getTime()
    const durationMs = typeof metadata.durationMs === 'number' ? metadata.durationMs : endMs - startMs
    return { name, status, startMs, endMs, durationMs }
  })
  const firstStartMs = Math.min(...steps.map(({ startMs }) => startMs))
  const totalMs = Math.max(1, ...steps.map(({ endMs }) => endMs - firstStartMs))
  return (
    <ol className="times">
      {steps.map(({ name, status, startMs, endMs, durationMs }) => (
        <li key={name} className="times-step">
          <span>{STEP_LABELS[name] ?? name}</span>
          <span className="times-track">
            <span
              className={status === 'error' ? 'times-bar is-bad' : 'times-bar'}
              style={{
                left: `${((startMs - firstStartMs) / totalMs) * 100}%`,
                width: `${Math.max(0.6, ((endMs - startMs) / totalMs) * 100)}%`,
              }}
            />
          </span>
          <span className="number small faint">{status === 'ok' ? formatMs(durationMs) : status}</span>
        </li>
      ))}
    </ol>
  )
}

const OUTCOME_LABELS: Record<string, { tone: Tone; label: string }> = {
  passed: { tone: 'good', label: 'passed' },
  missed: { tone: 'warn', label: 'missed' },
  failed: { tone: 'bad', label: 'excluded' },
  note: { tone: 'neutral', label: 'note' },
}

/** Form that explains why a document, or a passage with a given text, is not in the evidence. */
function ExplainForm({ traceId, spaceId }: { traceId: string; spaceId: string }) {
  const [file, setFile] = useState('')
  const [quotation, setQuotation] = useState('')
  const explain = useWrite('POST /knowledge-spaces/{id}/queries/explain')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const quote = quotation.trim()
    const body = { traceId, path: file.trim(), ...(quote === '' ? {} : { quote }) }
    explain.mutate({ path: { id: spaceId }, body })
  }
  return (
    <>
      <form className="explain-form" onSubmit={submit}>
        <TextField
          label="File"
          hint="Its path, or the end of the path."
          required
          value={file}
          onChange={(event) => setFile(event.target.value)}
        />
        <TextField
          label="Text of the passage"
          hint="Optional."
          value={quotation}
          onChange={(event) => setQuotation(event.target.value)}
        />
        <Button type="submit" busy={explain.isPending}>
          Explain
        </Button>
      </form>
      {explain.isError && <Notice tone="bad">{messageOf(explain.error)}</Notice>}
      {explain.data !== undefined && (
        <div className="stack">
          <p>
            <strong>{explain.data.verdict.replaceAll('-', ' ')}</strong> {explain.data.hint}
          </p>
          <ol className="stages">
            {explain.data.stages.map(({ stage, outcome, text }) => (
              <li key={stage} className="stages-item">
                <Badge tone={OUTCOME_LABELS[outcome]?.tone ?? 'neutral'}>
                  {OUTCOME_LABELS[outcome]?.label ?? outcome}
                </Badge>
                <span className="stages-name">{stage}</span>
                <span className="muted wrap">{text}</span>
              </li>
            ))}
          </ol>
        </div>
      )}
    </>
  )
}
