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

/** Passages shown before the list is expanded. */
const INITIAL_COUNT = 4

/** Labels of the evidence states. */
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

/** Shown without a model: nothing has checked that the nearest passages answer the question. */
const CLOSEST_LABEL: (typeof STATE_LABELS)[EvidenceState] = {
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

export function TurnView({ turn, space, onStop, onRetry }: TurnViewProps) {
  const [openItem, setOpenItem] = useState<EvidenceItem>()
  const [isTraceOpen, openTrace] = useState(false)
  const [isReportOpen, openReport] = useState(false)
  const { metadata, state, text } = turn
  const items = metadata?.evidenceBundle?.items ?? []
  const citation = openItem?.citations[0]
  return (
    <>
      <h2 className="turn-question wrap">{turn.question}</h2>
      <AnswerState turn={turn} spaceId={space.id} />
      {text !== '' && metadata?.quotation !== undefined && (
        <QuotationText text={text} {...metadata.quotation} onCite={(number) => setOpenItem(items[number - 1])} />
      )}
      {text !== '' && metadata?.quotation === undefined && (
        <AnswerText
          text={text}
          isRunning={state === 'running'}
          onCite={(number) => setOpenItem(items[number - 1])}
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
            <Button small icon="graph" aria-expanded={isTraceOpen} onClick={() => openTrace(!isTraceOpen)}>
              How it was found
            </Button>
            <Button small icon="flag" kind="quiet" onClick={() => openReport(true)}>
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
      {openItem !== undefined && citation !== undefined && (
        <DocumentSheet
          spaceId={space.id}
          documentId={citation.documentAssetId}
          version={citation.documentVersion}
          target={citation}
          onClose={() => setOpenItem(undefined)}
        />
      )}
      {isReportOpen && turn.traceId !== undefined && (
        <WrongAnswerDialog
          spaceId={space.id}
          traceId={turn.traceId}
          question={turn.question}
          onClose={() => openReport(false)}
        />
      )}
    </>
  )
}

/** Evidence state of the answer, and whether the search was complete. */
function AnswerState({ turn: { metadata, state }, spaceId }: { turn: AskTurn; spaceId: string }) {
  if (metadata === undefined)
    return state === 'running' ? <p className="sr-only">The answer is being prepared.</p> : null
  const evidence = metadata.evidenceBundle?.state
  const isClosest = evidence === 'partial' && metadata.decidedBy !== 'model'
  const label = evidence === undefined ? undefined : isClosest ? CLOSEST_LABEL : STATE_LABELS[evidence]
  const total = metadata.metrics?.totalMs
  const reasons = degradedReasons(metadata)
  const stale = metadata.evidenceBundle?.items.filter(({ freshness }) => freshness === 'stale').length ?? 0
  return (
    <div className="standing" role="status">
      {label !== undefined && (
        <>
          <Badge tone={label.tone}>{label.title}</Badge>
          <span className="muted small">{label.text}</span>
        </>
      )}
      <span className="faint small number standing-end">
        {[metadata.mode, typeof total === 'number' ? formatMs(total) : undefined].filter(Boolean).join(' · ')}
      </span>
      {evidence === 'not-enough-evidence' && <UnpublishedNotice spaceId={spaceId} />}
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

function degradedReasons(metadata: Record<string, unknown>): string[] {
  const { degradedReasons: reasons } = metadata
  return Array.isArray(reasons) ? reasons.map(String) : []
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
