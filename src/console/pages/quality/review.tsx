import { useEffect, useRef } from 'react'
import type { FailedQuery, FailedQueryMetrics } from '../../../contract/gateway/failed-queries.js'
import { useBoundedList } from '../../api/bounded-list.js'
import { useWrite } from '../../api/use.js'
import { setQuery, useRoute } from '../../router.js'
import { Button, classes } from '../../ui/button.js'
import { formatCount, plural } from '../../ui/format.js'
import { RelativeTime } from '../../ui/relative-time.js'
import { Badge, Empty, Loaded, Notice } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'
import { DecisionCard } from './decide.js'
import { STATUS_LABELS, TRIGGER_LABELS } from './labels.js'

/** Queries that are listed at most; the newest come first. */
const MAX_QUERIES = 1000
const FAILED_QUERIES = 'GET /knowledge-spaces/{id}/failed-queries'

type ReviewFilter = 'open' | 'decided'

interface ReviewProps {
  spaceId: string
  counts: FailedQueryMetrics['byStatus'] | undefined
}

/** Review of failed queries: one is shown with its evidence; a key decides it and moves to the next. */
export function Review({ spaceId, counts }: ReviewProps) {
  const { query } = useRoute()
  const filter: ReviewFilter = query.get('show') === 'decided' ? 'decided' : 'open'
  const failedQueries = useBoundedList(
    FAILED_QUERIES,
    (cursor) => ({ path: { id: spaceId }, query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) } }),
    { maxItems: MAX_QUERIES },
  )
  const triage = useWrite('POST /knowledge-spaces/{id}/failed-queries/triage', [
    FAILED_QUERIES,
    'GET /knowledge-spaces/{id}/failed-queries/metrics',
  ])
  const untriagedCount = counts?.['pending-triage'] ?? 0
  const runTriage = () =>
    triage.mutate(
      { path: { id: spaceId }, query: { limit: 200 } },
      {
        onSuccess: ({ triaged }) => showToast(`${plural(triaged, 'query', 'queries')} sorted.`),
        onError: (error) => showToast(error.message, 'bad'),
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
            Sort {formatCount(Math.min(untriagedCount, 200))} by evidence
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
              items={items.filter((one) => isOpen(one) === (filter === 'open'))}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

function ReviewQueue({ spaceId, items, filter }: { spaceId: string; items: FailedQuery[]; filter: ReviewFilter }) {
  const { query } = useRoute()
  // a query that was just decided has left the list: the one at its index comes next
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
    list.current?.querySelector(`[data-at="${selectedIndex}"]`)?.scrollIntoView({ block: 'nearest' })
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
        {items.map((one, index) => (
          <li key={one.id}>
            <button
              type="button"
              className={classes('pick-item', index === selectedIndex && 'is-selected')}
              aria-current={index === selectedIndex || undefined}
              data-at={index}
              onClick={() => setQuery({ query: one.id }, { replace: true })}
            >
              <span className="pick-words">{one.query}</span>
              <span className="row small faint">
                <Badge tone={STATUS_LABELS[one.status].tone}>{STATUS_LABELS[one.status].short}</Badge>
                <span>{TRIGGER_LABELS[one.trigger]}</span>
                <RelativeTime time={one.createdAt} />
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
