import './trace.css'
import { type FormEvent, useState } from 'react'
import type { AnswerMetadata, AnswerTrace, EvidenceItem } from '../../../contract/gateway/queries.js'
import { messageOf } from '../../api/client.js'
import { useRead, useWrite } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatCount, formatMs, splitPath } from '../../ui/format.js'
import { Field, Panel, ScrollFrame } from '../../ui/parts.js'
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

function metricOf(metrics: Record<string, unknown>, name: string): number | undefined {
  const value = metrics[name]
  return typeof value === 'number' ? value : undefined
}

/** The searches, whose results are merged and reduced step by step. Bars have a logarithmic scale. */
function Funnel({ metadata }: { metadata: AnswerMetadata }) {
  const metrics = metadata.metrics ?? {}
  const count = (name: string) => metricOf(metrics, name)
  const time = (name: string) => {
    const ms = count(name)
    return ms === undefined ? '' : formatMs(ms)
  }
  const stages = [
    { title: 'By words', value: count('ftsCandidateCount'), note: time('ftsMs'), leg: true },
    { title: 'By meaning', value: count('denseCandidateCount'), note: time('denseMs'), leg: true },
    { title: 'Merged', value: count('fusionCandidateCount'), note: '' },
    { title: 'Reranked', value: count('rerankCandidateCount'), note: time('fusionAndRerankMs') },
    { title: 'Shown', value: metadata.evidenceBundle?.items.length, note: '' },
    { title: 'Cited', value: metadata.cited?.length, note: '' },
  ].flatMap(({ value, ...stage }) => (value === undefined ? [] : [{ ...stage, value }]))
  const max = Math.max(1, ...stages.map(({ value }) => value))
  return (
    <ul className="funnel">
      {stages.map(({ title, value, note, leg: isSearch }) => (
        <li key={title} className={isSearch === true ? 'funnel-stage is-leg' : 'funnel-stage'}>
          <span className="funnel-title">{title}</span>
          <span className="funnel-track">
            <span className="funnel-bar" style={{ width: `${(Math.log1p(value) / Math.log1p(max)) * 100}%` }} />
          </span>
          <span className="funnel-value number">{formatCount(value)}</span>
          <span className="funnel-note faint small number">{note}</span>
        </li>
      ))}
    </ul>
  )
}

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
            const why = readMatch(metadata)
            return (
              <tr key={nodeId}>
                <td>{index + 1}</td>
                <td className="ranking-name one-line" title={String(metadata.filename ?? '')}>
                  {splitPath(String(metadata.filename ?? '')).name}
                </td>
                <td className="ranking-why">
                  {MATCH_LABELS[why.by] ?? why.by}
                  {why.words.length > 0 && <span className="faint"> {why.words.slice(0, 5).join(', ')}</span>}
                </td>
                <ScoreBar value={scores.retrieval} />
                <ScoreBar value={scores.rerank} />
                <ScoreBar value={scores.freshness} />
                <ScoreBar value={scores.final} />
              </tr>
            )
          })}
        </tbody>
      </table>
    </ScrollFrame>
  )
}

function ScoreBar({ value }: { value: number | undefined }) {
  if (value === undefined) return <td className="faint">–</td>
  return (
    <td>
      <span className="share">
        <span className="share-bar" style={{ width: `${value * 100}%` }} />
      </span>
      <span className="number">{value.toFixed(2)}</span>
    </td>
  )
}

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
    const tookMs = typeof metadata.durationMs === 'number' ? metadata.durationMs : endMs - startMs
    return { name, status, from: startMs, to: endMs, took: tookMs }
  })
  const firstStartMs = Math.min(...steps.map(({ from: startMs }) => startMs))
  const totalMs = Math.max(1, ...steps.map(({ to: endMs }) => endMs - firstStartMs))
  return (
    <ol className="times">
      {steps.map(({ name, status, from: startMs, to: endMs, took: tookMs }) => (
        <li key={name} className="times-step">
          <span className="times-name">{STEP_LABELS[name] ?? name}</span>
          <span className="times-track">
            <span
              className={status === 'error' ? 'times-bar is-bad' : 'times-bar'}
              style={{
                left: `${((startMs - firstStartMs) / totalMs) * 100}%`,
                width: `${Math.max(0.6, ((endMs - startMs) / totalMs) * 100)}%`,
              }}
            />
          </span>
          <span className="number small faint">{status === 'ok' ? formatMs(tookMs) : status}</span>
        </li>
      ))}
    </ol>
  )
}

const OUTCOME_BADGES: Record<string, { tone: Tone; title: string }> = {
  passed: { tone: 'good', title: 'passed' },
  missed: { tone: 'warn', title: 'missed' },
  failed: { tone: 'bad', title: 'excluded' },
  note: { tone: 'neutral', title: 'note' },
}

/** Form that explains why a document, or a passage with a given text, is not in the evidence. */
function ExplainForm({ traceId, spaceId }: { traceId: string; spaceId: string }) {
  const [file, setFile] = useState('')
  const [quote, setQuote] = useState('')
  const explain = useWrite('POST /knowledge-spaces/{id}/queries/explain')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const words = quote.trim()
    const body = { traceId, path: file.trim(), ...(words === '' ? {} : { quote: words }) }
    explain.mutate({ path: { id: spaceId }, body })
  }
  return (
    <>
      <form className="why-not" onSubmit={submit}>
        <Field label="File" hint="Its path, or the end of the path.">
          {(given) => (
            <input
              {...given}
              className="input"
              required
              value={file}
              onChange={(event) => setFile(event.target.value)}
            />
          )}
        </Field>
        <Field label="Text of the passage" hint="Optional.">
          {(given) => (
            <input {...given} className="input" value={quote} onChange={(event) => setQuote(event.target.value)} />
          )}
        </Field>
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
                <Badge tone={OUTCOME_BADGES[outcome]?.tone ?? 'neutral'}>
                  {OUTCOME_BADGES[outcome]?.title ?? outcome}
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
