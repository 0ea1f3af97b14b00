import { useState } from 'react'
import type { EvidenceItem, EvidenceState } from '../../../contract/gateway/queries.js'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useRead } from '../../api/use.js'
import { Button } from '../../ui/button.js'
import { formatMs, plural } from '../../ui/format.js'
import { Badge, Notice, Skeleton, type Tone } from '../../ui/state.js'
import { DocumentSheet } from '../../viewer/sheet.js'
import { AnswerText } from './answer-text.js'
import type { Turn } from './conversation.js'
import { EvidenceCard } from './evidence.js'
import { QuotationText } from './quotation-text.js'
import { TraceView } from './trace.js'
import { Wrong } from './wrong.js'

/** Maximum number of unpublished documents that is counted. */
const UNREAD_COUNTED = 100

/** Passages shown before the list is expanded. */
const FIRST = 4

/** Labels of the evidence states. */
const STATES: Record<EvidenceState, { tone: Tone; title: string; text: string }> = {
  answerable: { tone: 'good', title: 'Answered', text: 'The documents answer this.' },
  partial: { tone: 'warn', title: 'In part', text: 'The documents answer only a part of this.' },
  'not-enough-evidence': {
    tone: 'warn',
    title: 'Nothing found',
    text: 'Nothing was found that answers this. The passages below are the nearest.',
  },
  conflict: { tone: 'bad', title: 'Contradictory', text: 'The documents contradict each other. Look at both sides.' },
  'permission-limited': {
    tone: 'warn',
    title: 'Not all visible',
    text: 'Passages that would answer this are not open to you.',
  },
}

/** Shown without a model: nothing has checked that the nearest passages answer the question. */
const CLOSEST: (typeof STATES)[EvidenceState] = {
  tone: 'warn',
  title: 'Closest passages',
  text: 'It is not certain that the documents answer this: these passages are the nearest.',
}

interface TurnProps {
  turn: Turn
  space: KnowledgeSpace
  onStop: () => void
  /** repeats the question after a failure */
  onAgain: () => void
}

export function TurnView({ turn, space, onStop, onAgain }: TurnProps) {
  const [opened, setOpened] = useState<EvidenceItem>()
  const [isTraceOpen, openTrace] = useState(false)
  const [isWrongOpen, openWrong] = useState(false)
  const { metadata, state, text } = turn
  const items = metadata?.evidenceBundle?.items ?? []
  const citation = opened?.citations[0]
  return (
    <>
      <h2 className="turn-question wrap">{turn.question}</h2>
      <Standing turn={turn} spaceId={space.id} />
      {text !== '' && metadata?.quotation !== undefined && (
        <QuotationText text={text} {...metadata.quotation} onCite={(number) => setOpened(items[number - 1])} />
      )}
      {text !== '' && metadata?.quotation === undefined && (
        <AnswerText
          text={text}
          isRunning={state === 'running'}
          onCite={(number) => setOpened(items[number - 1])}
          {...(metadata === undefined ? {} : { cited: items.length })}
        />
      )}
      {state === 'running' && text === '' && <Skeleton />}
      {turn.error !== undefined && (
        <Notice
          tone="bad"
          action={
            <Button small icon="refresh" onClick={onAgain}>
              Ask again
            </Button>
          }
        >
          {turn.error}
        </Notice>
      )}
      {state === 'stopped' && <Notice>Stopped. The part received until then is shown above.</Notice>}
      <div className="row turn-actions">
        {state === 'running' && (
          <Button small icon="stop" onClick={onStop}>
            Stop
          </Button>
        )}
        {state === 'done' && turn.traceId !== undefined && (
          <>
            <Button small icon="graph" aria-expanded={isTraceOpen} onClick={() => openTrace(!isTraceOpen)}>
              How it was found
            </Button>
            <Button small icon="flag" kind="quiet" onClick={() => openWrong(true)}>
              This is wrong
            </Button>
          </>
        )}
      </div>
      {isTraceOpen && metadata !== undefined && turn.traceId !== undefined && (
        <TraceView traceId={turn.traceId} spaceId={space.id} metadata={metadata} />
      )}
      {items.length > 0 && (
        <Evidence
          items={items}
          isAnswer={metadata?.evidenceBundle?.state !== 'not-enough-evidence'}
          cited={metadata?.cited ?? []}
          onOpen={setOpened}
        />
      )}
      {opened !== undefined && citation !== undefined && (
        <DocumentSheet
          spaceId={space.id}
          documentId={citation.documentAssetId}
          version={citation.documentVersion}
          target={citation}
          onClose={() => setOpened(undefined)}
        />
      )}
      {isWrongOpen && turn.traceId !== undefined && (
        <Wrong spaceId={space.id} traceId={turn.traceId} question={turn.question} onClose={() => openWrong(false)} />
      )}
    </>
  )
}

/** Evidence state of the answer, and whether the search was complete. */
function Standing({ turn: { metadata, state }, spaceId }: { turn: Turn; spaceId: string }) {
  if (metadata === undefined) return state === 'running' ? <p className="sr-only">The answer is being prepared.</p> : null
  const evidence = metadata.evidenceBundle?.state
  const isClosest = evidence === 'partial' && metadata.decidedBy !== 'model'
  const standing = evidence === undefined ? undefined : isClosest ? CLOSEST : STATES[evidence]
  const total = metadata.metrics?.totalMs
  const reasons = degradedReasons(metadata)
  const stale = metadata.evidenceBundle?.items.filter(({ freshness }) => freshness === 'stale').length ?? 0
  return (
    <div className="standing" role="status">
      {standing !== undefined && (
        <>
          <Badge tone={standing.tone}>{standing.title}</Badge>
          <span className="muted small">{standing.text}</span>
        </>
      )}
      <span className="faint small number standing-end">
        {[metadata.mode, typeof total === 'number' ? formatMs(total) : undefined].filter(Boolean).join(' · ')}
      </span>
      {evidence === 'not-enough-evidence' && <Unread spaceId={spaceId} />}
      {reasons.length > 0 && (
        <Notice tone="warn">
          Not everything could be searched, so the answer may be incomplete: {reasons.join(', ')}.
        </Notice>
      )}
      {stale > 0 && (
        <Notice tone="warn">
          {plural(stale, 'passage')} of an older version: the index has not caught up with the documents.
        </Notice>
      )}
    </div>
  )
}

/** Notice about documents that are not indexed yet: they may contain the answer. */
function Unread({ spaceId }: { spaceId: string }) {
  const jobs = useRead('GET /knowledge-spaces/{id}/jobs', {
    path: { id: spaceId },
    query: { state: 'open', limit: UNREAD_COUNTED },
  })
  const count = jobs.data?.items.length ?? 0
  if (count === 0) return null
  const documents = count === UNREAD_COUNTED ? `${count} documents or more` : plural(count, 'document')
  return (
    <Notice tone="warn">
      The index is out of date: {documents} {count === 1 ? 'is' : 'are'} still being read. Ask again when that is done.
    </Notice>
  )
}

function degradedReasons(metadata: Record<string, unknown>): string[] {
  const { degradedReasons: reasons } = metadata
  return Array.isArray(reasons) ? reasons.map(String) : []
}

interface EvidenceProps {
  items: readonly EvidenceItem[]
  /** whether the items support the answer; otherwise they are only the nearest ones */
  isAnswer: boolean
  cited: readonly number[]
  onOpen: (item: EvidenceItem) => void
}

function Evidence({ items, isAnswer, cited, onOpen }: EvidenceProps) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? items : items.slice(0, Math.max(FIRST, ...cited))
  return (
    <section aria-label="Evidence" className="evidence">
      <h3 className="evidence-title">
        {isAnswer ? 'Evidence' : 'Nearest passages'} <span className="faint number">{items.length}</span>
      </h3>
      <ol className="evidence-list">
        {shown.map((item, at) => (
          <li key={item.nodeId}>
            <EvidenceCard item={item} number={at + 1} isCited={cited.includes(at + 1)} onOpen={() => onOpen(item)} />
          </li>
        ))}
      </ol>
      {shown.length < items.length && (
        <Button small kind="quiet" icon="down" onClick={() => setWhole(true)}>
          {plural(items.length - shown.length, 'more passage')}
        </Button>
      )}
    </section>
  )
}
