import '../../style/forms.css'
import './quality.css'
import { useSpace } from '../../api/space.js'
import { useRead } from '../../api/use.js'
import { setQuery, useRoute } from '../../router.js'
import { NoSpacePage } from '../../ui/no-space.js'
import { PageHead, Tabs } from '../../ui/parts.js'
import { Clusters } from './clusters.js'
import { Conflicts } from './conflicts.js'
import { GoldenQuestions } from './golden.js'
import { Review } from './review.js'
import { GoldenRuns } from './runs-tab.js'

const LEAD = 'Where the space answers badly, why, and whether it gets better.'

/** Page of failed queries, golden questions and their runs. */
export function Quality() {
  const selection = useSpace()
  const { space } = selection
  if (space !== undefined) return <QualityTabs key={space.id} spaceId={space.id} />
  return (
    <NoSpacePage title="Quality" lead={LEAD} selection={selection} icon="quality">
      Questions that a space cannot answer are collected here.
    </NoSpacePage>
  )
}

function QualityTabs({ spaceId }: { spaceId: string }) {
  const { query } = useRoute()
  const metrics = useRead('GET /knowledge-spaces/{id}/failed-queries/metrics', { path: { id: spaceId } })
  const counts = metrics.data?.byStatus
  const openCount = counts && counts['pending-triage'] + counts.triaged + counts['pending-annotation']
  const tabs = [
    { id: 'review', title: 'Review', ...(openCount === undefined ? {} : { count: openCount }) },
    { id: 'clusters', title: 'Similar queries' },
    { id: 'golden', title: 'Golden questions' },
    { id: 'runs', title: 'Runs' },
    { id: 'conflicts', title: 'Conflicts' },
  ] as const
  const tab = tabs.find(({ id }) => id === query.get('tab'))?.id ?? 'review'
  return (
    <>
      <PageHead title="Quality" lead={LEAD} />
      <Tabs
        label="Quality"
        tabs={tabs}
        value={tab}
        onChange={(id) => setQuery({ tab: id, query: undefined, show: undefined, before: undefined, after: undefined })}
      />
      {tab === 'review' && <Review spaceId={spaceId} counts={counts} />}
      {tab === 'clusters' && <Clusters spaceId={spaceId} />}
      {tab === 'golden' && <GoldenQuestions spaceId={spaceId} />}
      {tab === 'runs' && <GoldenRuns spaceId={spaceId} />}
      {tab === 'conflicts' && <Conflicts spaceId={spaceId} />}
    </>
  )
}
