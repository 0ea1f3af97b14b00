import '../../style/forms.css'
import './operations.css'
import { useSpace } from '../../api/space.js'
import { setQuery, usePlace } from '../../router.js'
import { NoSpace } from '../../ui/no-space.js'
import { PageHead, Tabs } from '../../ui/parts.js'
import { Activity } from './activity.js'
import { Indexes } from './indexes.js'
import { Jobs } from './jobs.js'
import { Keeping } from './keeping.js'
import { Tokens } from './tokens.js'
import { Upkeep } from './upkeep.js'

const TABS = [
  { id: 'activity', title: 'Activity' },
  { id: 'jobs', title: 'Jobs' },
  { id: 'index', title: 'Index' },
  { id: 'upkeep', title: 'Check and clean' },
  { id: 'keeping', title: 'Retention and quotas' },
  { id: 'tokens', title: 'Tokens' },
] as const
type Tab = (typeof TABS)[number]['id']

/** Page of the daemon's activity and the maintenance of a space. */
export function Operations() {
  const { query } = usePlace()
  const tab = TABS.find(({ id }) => id === query.get('tab'))?.id ?? 'activity'
  return (
    <>
      <PageHead title="Operations" lead="Activity of the daemon, contents and maintenance of a space." />
      <Tabs label="Operations" tabs={TABS} value={tab} onChange={(id) => setQuery({ tab: id })} />
      <Shown key={tab} tab={tab} />
    </>
  )
}

function Shown({ tab }: { tab: Tab }) {
  if (tab === 'activity') return <Activity />
  if (tab === 'tokens') return <Tokens />
  return <OfSpace tab={tab} />
}

function OfSpace({ tab }: { tab: Tab }) {
  const chosen = useSpace()
  if (chosen.space === undefined)
    return (
      <NoSpace of={chosen} icon="operations">
        This page shows one space.
      </NoSpace>
    )
  const { id } = chosen.space
  if (tab === 'jobs') return <Jobs key={id} spaceId={id} />
  if (tab === 'index') return <Indexes key={id} spaceId={id} />
  if (tab === 'upkeep') return <Upkeep key={id} spaceId={id} />
  return <Keeping key={id} spaceId={id} />
}
