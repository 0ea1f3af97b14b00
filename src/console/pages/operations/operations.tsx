import '../../style/forms.css'
import './operations.css'
import { useSpace } from '../../api/space.js'
import { setQuery, useRoute } from '../../router.js'
import { NoSpace } from '../../ui/no-space.js'
import { PageHead, Tabs } from '../../ui/parts.js'
import { Activity } from './activity.js'
import { Indexes } from './indexes.js'
import { JobsTab } from './jobs.js'
import { MaintenanceTab } from './maintenance.js'
import { RetentionTab } from './retention.js'
import { Tokens } from './tokens.js'

const TABS = [
  { id: 'activity', title: 'Activity' },
  { id: 'jobs', title: 'Jobs' },
  { id: 'index', title: 'Index' },
  { id: 'upkeep', title: 'Check and clean' },
  { id: 'keeping', title: 'Retention and quotas' },
  { id: 'tokens', title: 'Tokens' },
] as const
type OperationsTab = (typeof TABS)[number]['id']

/** Page of the daemon's activity and the maintenance of a space. */
export function Operations() {
  const { query } = useRoute()
  const tab = TABS.find(({ id }) => id === query.get('tab'))?.id ?? 'activity'
  return (
    <>
      <PageHead title="Operations" lead="Activity of the daemon, contents and maintenance of a space." />
      <Tabs label="Operations" tabs={TABS} value={tab} onChange={(id) => setQuery({ tab: id })} />
      <TabBody key={tab} tab={tab} />
    </>
  )
}

function TabBody({ tab }: { tab: OperationsTab }) {
  if (tab === 'activity') return <Activity />
  if (tab === 'tokens') return <Tokens />
  return <SpaceTab tab={tab} />
}

function SpaceTab({ tab }: { tab: OperationsTab }) {
  const selection = useSpace()
  if (selection.space === undefined)
    return (
      <NoSpace selection={selection} icon="operations">
        This page shows one space.
      </NoSpace>
    )
  const { id } = selection.space
  if (tab === 'jobs') return <JobsTab key={id} spaceId={id} />
  if (tab === 'index') return <Indexes key={id} spaceId={id} />
  if (tab === 'upkeep') return <MaintenanceTab key={id} spaceId={id} />
  return <RetentionTab key={id} spaceId={id} />
}
