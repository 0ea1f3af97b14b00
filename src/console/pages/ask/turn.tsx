import { useState } from 'react'
import type { EvidenceItem, EvidenceState } from '../../../contract/gateway/queries.js'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useRead } from '../../api/use.js'
import { AnswerText } from '../../chat/answer-text.js'
import { Button } from '../../ui/button.js'
import { formatMs, plural } from '../../ui/format.js'
import { Badge, Notice, Skeleton, type Tone } from '../../ui/state.js'
import { DocumentSheet } from '../../viewer/document-sheet.js'
import type { AskTurn } from './conversation.js'
import { EvidenceCard } from './evidence.js'
import { QuotationText } from './quotation-text.js'
import { TraceView } from './trace.js'
import { WrongAnswerDialog } from './wrong.js'

/** Maximum number of unpublished documents that is counted. */
const MAX_COUNTED_JOBS = 100

/** Passages shown before the list is expanded; cited ones are always shown. */
const INITIAL_COUNT = 4

const STATE_LABELS: Record<EvidenceState, { tone: Tone; title: string; text: string }> = {
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

/** Label without a model: nothing has checked that the nearest passages answer the question. */
const UNCHECKED_LABEL: (typeof STATE_LABELS)[EvidenceState] = {
  tone: 'warn',
  title: 'Closest passages',
  text: 'It is not certain that the documents answer this: these passages are the nearest.',
}

interface TurnViewProps {
  turn: AskTurn
  space: KnowledgeSpace
  onStop: () => void
  /** repeats the question after a failure */
  onRetry: () => void
}

/** A question with its answer, evidence and actions. */
export function TurnView({ turn, space, onStop, onRetry }: TurnViewProps) {
  const [openItem, setOpenItem] = useState<EvidenceItem>()
  const [isTraceOpen, setTraceOpen] = useState(false)
  const [isDialogOpen, setDialogOpen] = useState(false)
  const { metadata, state, text } = turn
  const items = metadata?.evidenceBundle?.items ?? []
  const onCite = (number: number) => setOpenItem(items[number - 1])
  const citation = openItem?.citations[0]
  return (
    <>
      <h2 className="turn-question wrap">{turn.question}</h2>
      <AnswerState turn={turn} spaceId={space.id} />
      {text !== '' && metadata?.quotation !== undefined && (
        <QuotationText text={text} {...metadata.quotation} onCite={onCite} />
      )}
      {text !== '' && metadata?.quotation === undefined && (
        <AnswerText
          text={text}
          isRunning={state === 'running'}
          onCite={onCite}
          {...(metadata === undefined ? {} : { itemCount: items.length })}
        />
      )}
      {state === 'running' && text === '' && <Skeleton />}
      {turn.error !== undefined && (
        <Notice
          tone="bad"
          action={
            <Button small icon="refresh" onClick={onRetry}>
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
            <Button small icon="graph" aria-expanded={isTraceOpen} onClick={() => setTraceOpen(!isTraceOpen)}>
              How it was found
            </Button>
            <Button small icon="flag" kind="quiet" onClick={() => setDialogOpen(true)}>
              This is wrong
            </Button>
          </>
        )}
      </div>
      {isTraceOpen && metadata !== undefined && turn.traceId !== undefined && (
        <TraceView traceId={turn.traceId} spaceId={space.id} metadata={metadata} />
      )}
      {items.length > 0 && (
        <EvidenceList
          items={items}
          isAnswer={metadata?.evidenceBundle?.state !== 'not-enough-evidence'}
          cited={metadata?.cited ?? []}
          onOpen={setOpenItem}
        />
      )}
      {citation !== undefined && (
        <DocumentSheet spaceId={space.id} citation={citation} onClose={() => setOpenItem(undefined)} />
      )}
      {isDialogOpen && turn.traceId !== undefined && (
        <WrongAnswerDialog
          spaceId={space.id}
          traceId={turn.traceId}
          question={turn.question}
          onClose={() => setDialogOpen(false)}
        />
      )}
    </>
  )
}

/** Evidence state of the answer, and whether the search was complete. */
function AnswerState({ turn: { metadata, state }, spaceId }: { turn: AskTurn; spaceId: string }) {
  if (metadata === undefined)
    return state === 'running' ? <p className="sr-only">The answer is being prepared.</p> : null
  const evidenceState = metadata.evidenceBundle?.state
  const isUnchecked = evidenceState === 'partial' && metadata.decidedBy !== 'model'
  const label = evidenceState === undefined ? undefined : isUnchecked ? UNCHECKED_LABEL : STATE_LABELS[evidenceState]
  const totalMs = metadata.metrics?.totalMs
  const { degradedReasons } = metadata
  const reasons = Array.isArray(degradedReasons) ? degradedReasons.map(String) : []
  const staleCount = metadata.evidenceBundle?.items.filter(({ freshness }) => freshness === 'stale').length ?? 0
  return (
    <div className="answer-state" role="status">
      {label !== undefined && (
        <>
          <Badge tone={label.tone}>{label.title}</Badge>
          <span className="muted small">{label.text}</span>
        </>
      )}
      <span className="faint small number answer-state-end">
        {[metadata.mode, typeof totalMs === 'number' ? formatMs(totalMs) : undefined].filter(Boolean).join(' · ')}
      </span>
      {evidenceState === 'not-enough-evidence' && <UnpublishedNotice spaceId={spaceId} />}
      {reasons.length > 0 && (
        <Notice tone="warn">
          Not everything could be searched, so the answer may be incomplete: {reasons.join(', ')}.
        </Notice>
      )}
      {staleCount > 0 && (
        <Notice tone="warn">
          {plural(staleCount, 'passage')} of an older version: the index has not caught up with the documents.
        </Notice>
      )}
    </div>
  )
}

/** Notice about documents that are not indexed yet: they may contain the answer. */
function UnpublishedNotice({ spaceId }: { spaceId: string }) {
  const jobs = useRead('GET /knowledge-spaces/{id}/jobs', {
    path: { id: spaceId },
    query: { state: 'open', limit: MAX_COUNTED_JOBS },
  })
  const count = jobs.data?.items.length ?? 0
  if (count === 0) return null
  const documents = count === MAX_COUNTED_JOBS ? `${count} documents or more` : plural(count, 'document')
  return (
    <Notice tone="warn">
      The index is out of date: {documents} {count === 1 ? 'is' : 'are'} still being read. Ask again when that is done.
    </Notice>
  )
}

interface EvidenceListProps {
  items: readonly EvidenceItem[]
  /** whether the items support the answer; otherwise they are only the nearest ones */
  isAnswer: boolean
  cited: readonly number[]
  onOpen: (item: EvidenceItem) => void
}

function EvidenceList({ items, isAnswer, cited, onOpen }: EvidenceListProps) {
  const [isExpanded, setExpanded] = useState(false)
  const visible = isExpanded ? items : items.slice(0, Math.max(INITIAL_COUNT, ...cited))
  return (
    <section aria-label="Evidence" className="evidence">
      <h3 className="evidence-title">
        {isAnswer ? 'Evidence' : 'Nearest passages'} <span className="faint number">{items.length}</span>
      </h3>
      <ol className="evidence-list">
        {visible.map((item, index) => (
          <li key={item.nodeId}>
            <EvidenceCard
              item={item}
              number={index + 1}
              isCited={cited.includes(index + 1)}
              onOpen={() => onOpen(item)}
            />
          </li>
        ))}
      </ol>
      {visible.length < items.length && (
        <Button small kind="quiet" icon="down" onClick={() => setExpanded(true)}>
          {plural(items.length - visible.length, 'more passage')}
        </Button>
      )}
    </section>
  )
}
