import { useEffect, useRef } from 'react'
import type { FailedQuery, FailedQueryMetrics } from '../../../contract/gateway/failed-queries.js'
import { useEvery } from '../../api/every.js'
import { useWrite } from '../../api/use.js'
import { setQuery, usePlace } from '../../router.js'
import { Ago } from '../../ui/ago.js'
import { Button, classes } from '../../ui/button.js'
import { formatCount, plural } from '../../ui/format.js'
import { Badge, Empty, Loaded, Notice } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { Decide } from './decide.js'
import { STATUS, TRIGGER } from './words.js'

/** Queries that are listed at most; the newest come first. */
const MOST = 1000
const FAILED = 'GET /knowledge-spaces/{id}/failed-queries'

type Shown = 'open' | 'decided'

interface ReviewProps {
  spaceId: string
  counts: FailedQueryMetrics['byStatus'] | undefined
}

/** Review of failed queries: one is shown with its evidence; a key decides it and moves to the next. */
export function Review({ spaceId, counts }: ReviewProps) {
  const { query } = usePlace()
  const shown: Shown = query.get('show') === 'decided' ? 'decided' : 'open'
  const failed = useEvery(
    FAILED,
    (cursor) => ({ path: { id: spaceId }, query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) } }),
    { most: MOST },
  )
  const triage = useWrite('POST /knowledge-spaces/{id}/failed-queries/triage', [
    FAILED,
    'GET /knowledge-spaces/{id}/failed-queries/metrics',
  ])
  const waiting = counts?.['pending-triage'] ?? 0
  const sortOut = () =>
    triage.mutate(
      { path: { id: spaceId }, query: { limit: 200 } },
      {
        onSuccess: ({ triaged }) => say(`${plural(triaged, 'query', 'queries')} sorted.`),
        onError: (error) => say(error.message, 'bad'),
      },
    )
  return (
    <div className="stack">
      <div className="row review-bar">
        <label className="row small">
          <span className="muted">Show</span>
          <select
            className="select"
            value={shown}
            onChange={(event) => setQuery({ show: event.target.value, query: undefined })}
          >
            <option value="open">to decide</option>
            <option value="decided">decided</option>
          </select>
        </label>
        {waiting > 0 && (
          <Button icon="search" busy={triage.isPending} onClick={sortOut}>
            Sort {formatCount(Math.min(waiting, 200))} by evidence
          </Button>
        )}
      </div>
      <Loaded of={failed} lines={8}>
        {({ items, isCut }) => (
          <>
            {isCut && <Notice>The newest {formatCount(MOST)} are shown; there are more.</Notice>}
            <Queue spaceId={spaceId} shown={shown} items={items.filter((one) => isOpen(one) === (shown === 'open'))} />
          </>
        )}
      </Loaded>
    </div>
  )
}

function Queue({ spaceId, items, shown }: { spaceId: string; items: FailedQuery[]; shown: Shown }) {
  const { query } = usePlace()
  // a query that was just decided has left the list: the one at its index comes next
  const place = useRef(0)
  const found = items.findIndex(({ id }) => id === query.get('query'))
  if (found >= 0) place.current = found
  const at = found >= 0 ? found : Math.min(place.current, items.length - 1)
  const selected = items[at]
  const move = (step: number) => {
    const next = items[at + step]
    if (next !== undefined) setQuery({ query: next.id }, { replace: true })
  }
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    list.current?.querySelector(`[data-at="${at}"]`)?.scrollIntoView({ block: 'nearest' })
  }, [at])
  if (selected === undefined)
    return (
      <Empty icon="check" title={shown === 'open' ? 'Nothing to decide' : 'Nothing decided yet'}>
        <p>
          {shown === 'open'
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
              className={classes('pick-item', index === at && 'is-selected')}
              aria-current={index === at || undefined}
              data-at={index}
              onClick={() => setQuery({ query: one.id }, { replace: true })}
            >
              <span className="pick-words">{one.query}</span>
              <span className="row small faint">
                <Badge tone={STATUS[one.status].tone}>{STATUS[one.status].short}</Badge>
                <span>{TRIGGER[one.trigger]}</span>
                <Ago time={one.createdAt} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Decide
        key={selected.id}
        failed={selected}
        spaceId={spaceId}
        position={`${at + 1} of ${formatCount(items.length)}`}
        onMove={move}
      />
    </div>
  )
}

const isOpen = ({ status }: FailedQuery) =>
  status === 'pending-triage' || status === 'triaged' || status === 'pending-annotation'
