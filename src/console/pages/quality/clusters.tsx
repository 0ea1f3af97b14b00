import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { FailedQueryClusters, FailedQueryVerdict } from '../../../contract/gateway/failed-queries.js'
import { call } from '../../api/client.js'
import { useForget, useRead } from '../../api/use.js'
import { setQuery } from '../../router.js'
import { Ago } from '../../ui/ago.js'
import { Button } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { Dialog, FormEnd } from '../../ui/parts.js'
import { Badge, Empty, Loaded } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { STATUS, TRIGGER } from './words.js'

const CLUSTERS = 'GET /knowledge-spaces/{id}/failed-queries/clusters'
const MOST = 100
type Cluster = FailedQueryClusters['clusters'][number]
/** Verdicts for a complete cluster. `retrieval-miss` is excluded: it needs the expected passages of each query. */
type ForAll = Exclude<FailedQueryVerdict, 'retrieval-miss'>
const TITLES: Record<ForAll, string> = { 'coverage-gap': 'Not covered', irrelevant: 'Irrelevant' }

/**
 * Groups of failed queries that ask the same in different words, the most frequent first; a verdict applies to a group.
 */
export function Clusters({ spaceId }: { spaceId: string }) {
  const clusters = useRead(CLUSTERS, { path: { id: spaceId }, query: { limit: MOST } })
  const [decided, setDecided] = useState<{ cluster: Cluster; verdict: ForAll }>()
  return (
    <>
      <Loaded of={clusters} lines={8}>
        {({ clusters: items }) =>
          items.length === 0 ? (
            <Empty icon="check" title="No failed queries">
              <p>Questions without a good answer appear here automatically; those that ask the same form a group.</p>
            </Empty>
          ) : (
            <ul className="golden-list" aria-label="Groups of failed queries">
              {items.map((cluster) => (
                <ClusterRow
                  key={cluster.representative.id}
                  cluster={cluster}
                  decide={(verdict) => setDecided({ cluster, verdict })}
                />
              ))}
            </ul>
          )
        }
      </Loaded>
      {decided !== undefined && <DecideAll spaceId={spaceId} {...decided} onClose={() => setDecided(undefined)} />}
    </>
  )
}

function ClusterRow({ cluster, decide }: { cluster: Cluster; decide: (verdict: ForAll) => void }) {
  const { count, representative: shown } = cluster
  return (
    <li className="golden-item cluster">
      <div className="golden-words">
        <p className="wrap golden-question">{shown.query}</p>
        <p className="row small faint">
          <Badge tone={STATUS[shown.status].tone}>{STATUS[shown.status].short}</Badge>
          {count > 1 && <span>{plural(count, 'query', 'queries')} that ask this</span>}
          <span>{TRIGGER[shown.trigger]}</span>
          <Ago time={shown.createdAt} />
        </p>
      </div>
      <div className="row cluster-actions">
        <Button small kind="quiet" onClick={() => decide('coverage-gap')}>
          {TITLES['coverage-gap']}
        </Button>
        <Button small kind="quiet" onClick={() => decide('irrelevant')}>
          {TITLES.irrelevant}
        </Button>
        <Button small onClick={() => setQuery({ tab: 'review', show: isDecided(shown), query: shown.id })}>
          Review
        </Button>
      </div>
    </li>
  )
}

const isDecided = ({ status }: Cluster['representative']) =>
  status === 'annotated' || status === 'dismissed' || status === 'promoted' ? 'decided' : undefined

interface DecideAllProps {
  spaceId: string
  cluster: Cluster
  verdict: ForAll
  onClose: () => void
}

function DecideAll({ spaceId, cluster, verdict, onClose }: DecideAllProps) {
  const forget = useForget()
  const write = useMutation({
    mutationFn: async () => {
      for (const failedQueryId of cluster.failedQueryIds)
        await call('PATCH /knowledge-spaces/{id}/failed-queries/{failedQueryId}', {
          path: { id: spaceId, failedQueryId },
          body: { verdict },
        })
    },
    onSuccess: () => {
      say(`${plural(cluster.failedQueryIds.length, 'query', 'queries')} decided.`)
      onClose()
    },
    onSettled: () =>
      forget(
        CLUSTERS,
        'GET /knowledge-spaces/{id}/failed-queries',
        'GET /knowledge-spaces/{id}/failed-queries/metrics',
      ),
  })
  const these = cluster.failedQueryIds.length === 1 ? 'this query' : `these ${cluster.failedQueryIds.length} queries`
  return (
    <Dialog title={`${TITLES[verdict]}?`} onClose={onClose}>
      <div className="stack">
        <p className="wrap">{cluster.representative.query}</p>
        <p className="muted">
          Decides {these}, including those with a different decision. It can be changed in the review.
        </p>
        <FormEnd of={write} label={TITLES[verdict]} onClick={() => write.mutate()} onCancel={onClose} />
      </div>
    </Dialog>
  )
}
