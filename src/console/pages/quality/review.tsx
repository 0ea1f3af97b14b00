import { useEffect, useRef } from 'react'
import type { FailedQuery, FailedQueryMetrics } from '../../../contract/gateway/failed-queries.js'
import { useBoundedList } from '../../api/bounded-list.js'
import { useWrite } from '../../api/use.js'
import { setQuery, useRoute } from '../../router.js'
import { Button, classes } from '../../ui/button.js'
import { formatCount, plural } from '../../ui/format.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Badge, Empty, Loaded, Notice } from '../../ui/state.js'
import { showError, showToast } from '../../ui/toast.js'
import { DecisionCard } from './decide.js'
import { STATUS_LABELS, TRIGGER_LABELS } from './labels.js'

/** Maximum number of listed queries; the newest come first. */
const MAX_QUERIES = 1000
/** Maximum number of queries that one call of triage sorts. */
const TRIAGE_BATCH_SIZE = 200
const FAILED_QUERIES = 'GET /knowledge-spaces/{id}/failed-queries'

type ReviewFilter = 'open' | 'decided'

interface ReviewProps {
  spaceId: string
  /** undefined until they are loaded */
  counts: FailedQueryMetrics['byStatus'] | undefined
}

/** Review of failed queries: one is shown with its evidence; a key decides it and moves to the next. */
export function Review({ spaceId, counts }: ReviewProps) {
  const { query } = useRoute()
  const filter: ReviewFilter = query.get('show') === 'decided' ? 'decided' : 'open'
  const failedQueries = useBoundedList(
    FAILED_QUERIES,
    (position) => ({ path: { id: spaceId }, query: { limit: 200, ...position } }),
    { maxItems: MAX_QUERIES },
  )
  const triage = useWrite('POST /knowledge-spaces/{id}/failed-queries/triage', [
    FAILED_QUERIES,
    'GET /knowledge-spaces/{id}/failed-queries/metrics',
  ])
  const untriagedCount = counts?.['pending-triage'] ?? 0
  const runTriage = () =>
    triage.mutate(
      { path: { id: spaceId }, query: { limit: TRIAGE_BATCH_SIZE } },
      {
        onSuccess: ({ triaged }) => showToast(`${plural(triaged, 'query', 'queries')} sorted.`),
        onError: showError,
      },
    )
  return (
    <div className="stack">
      <div className="row review-bar">
        <label className="row small">
          <span className="muted">Show</span>
          <select
            className="select"
            value={filter}
            onChange={(event) => setQuery({ show: event.target.value, query: undefined })}
          >
            <option value="open">to decide</option>
            <option value="decided">decided</option>
          </select>
        </label>
        {untriagedCount > 0 && (
          <Button icon="search" busy={triage.isPending} onClick={runTriage}>
            Sort {formatCount(Math.min(untriagedCount, TRIAGE_BATCH_SIZE))} by evidence
          </Button>
        )}
      </div>
      <Loaded query={failedQueries} lines={8}>
        {({ items, isTruncated }) => (
          <>
            {isTruncated && <Notice>The newest {formatCount(MAX_QUERIES)} are shown; there are more.</Notice>}
            <ReviewQueue
              spaceId={spaceId}
              filter={filter}
              items={items.filter((item) => isOpen(item) === (filter === 'open'))}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

function ReviewQueue({ spaceId, items, filter }: { spaceId: string; items: FailedQuery[]; filter: ReviewFilter }) {
  const { query } = useRoute()
  // a query that was just decided is no longer listed: the one at its index comes next
  const lastIndex = useRef(0)
  const requestedIndex = items.findIndex(({ id }) => id === query.get('query'))
  if (requestedIndex >= 0) lastIndex.current = requestedIndex
  const selectedIndex = requestedIndex >= 0 ? requestedIndex : Math.min(lastIndex.current, items.length - 1)
  const selected = items[selectedIndex]
  const move = (step: number) => {
    const next = items[selectedIndex + step]
    if (next !== undefined) setQuery({ query: next.id }, { replace: true })
  }
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.querySelector(`[data-index="${selectedIndex}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [selectedIndex])
  if (selected === undefined)
    return (
      <Empty icon="check" title={filter === 'open' ? 'Nothing to decide' : 'Nothing decided yet'}>
        <p>
          {filter === 'open'
            ? 'Questions without a good answer appear here automatically.'
            : 'Your decisions are listed here and can be changed.'}
        </p>
      </Empty>
    )
  return (
    <div className="review">
      <ul className="review-list" ref={list} aria-label="Failed queries">
        {items.map(({ id, query: text, status, trigger, createdAt }, index) => (
          <li key={id}>
            <button
              type="button"
              className={classes('pick-item', index === selectedIndex && 'is-selected')}
              aria-current={index === selectedIndex || undefined}
              data-index={index}
              onClick={() => setQuery({ query: id }, { replace: true })}
            >
              <span className="pick-text">{text}</span>
              <span className="row small faint">
                <Badge tone={STATUS_LABELS[status].tone}>{STATUS_LABELS[status].label}</Badge>
                <span>{TRIGGER_LABELS[trigger]}</span>
                <RelativeTime time={createdAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      <DecisionCard
        key={selected.id}
        failedQuery={selected}
        spaceId={spaceId}
        position={`${selectedIndex + 1} of ${formatCount(items.length)}`}
        onMove={move}
      />
    </div>
  )
}

const isOpen = ({ status }: FailedQuery) =>
  status === 'pending-triage' || status === 'triaged' || status === 'pending-annotation'
