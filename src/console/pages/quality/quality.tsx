import '../../style/forms.css'
import './quality.css'
import { useSpace } from '../../api/space.js'
import { useRead } from '../../api/use.js'
import { setQuery, useRoute } from '../../router.js'
import { NoSpace } from '../../ui/no-space.js'
import { PageHead, Tabs } from '../../ui/parts.js'
import { Clusters } from './clusters.js'
import { Conflicts } from './conflicts.js'
import { GoldenQuestions } from './golden.js'
import { Review } from './review.js'
import { GoldenRuns } from './runs-tab.js'

const LEAD = 'Where the space answers badly, why, and whether it gets better.'

/** Page of failed queries, golden questions and their runs. */
export function Quality() {
  const chosen = useSpace()
  const { space } = chosen
  if (space !== undefined) return <QualityTabs key={space.id} id={space.id} />
  return (
    <>
      <PageHead title="Quality" lead={LEAD} />
      <NoSpace selection={chosen} icon="quality">
        Questions that a space cannot answer are collected here.
      </NoSpace>
    </>
  )
}

function QualityTabs({ id }: { id: string }) {
  const { query } = useRoute()
  const metrics = useRead('GET /knowledge-spaces/{id}/failed-queries/metrics', { path: { id } })
  const counts = metrics.data?.byStatus
  const openCount = counts && counts['pending-triage'] + counts.triaged + counts['pending-annotation']
  const tabs = [
    { id: 'review', title: 'Review', ...(openCount === undefined ? {} : { count: openCount }) },
    { id: 'clusters', title: 'Similar queries' },
    { id: 'golden', title: 'Golden questions' },
    { id: 'runs', title: 'Runs' },
    { id: 'conflicts', title: 'Conflicts' },
  ] as const
  const tab = tabs.find((one) => one.id === query.get('tab'))?.id ?? 'review'
  return (
    <>
      <PageHead title="Quality" lead={LEAD} />
      <Tabs
        label="Quality"
        tabs={tabs}
        value={tab}
        onChange={(to) => setQuery({ tab: to, query: undefined, show: undefined, before: undefined, after: undefined })}
      />
      {tab === 'review' && <Review spaceId={id} counts={counts} />}
      {tab === 'clusters' && <Clusters spaceId={id} />}
      {tab === 'golden' && <GoldenQuestions spaceId={id} />}
      {tab === 'runs' && <GoldenRuns spaceId={id} />}
      {tab === 'conflicts' && <Conflicts spaceId={id} />}
    </>
  )
}
