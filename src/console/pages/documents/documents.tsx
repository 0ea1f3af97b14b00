import './documents.css'
import { useSpace } from '../../api/space.js'
import { useRead } from '../../api/use.js'
import { address, setQuery, usePlace } from '../../router.js'
import { Link } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { PageHead, Tabs } from '../../ui/parts.js'
import { Empty, Failure, Skeleton } from '../../ui/state.js'
import { DocumentPage } from './document.js'
import { FoundDocuments } from './found.js'
import { Jobs } from './jobs.js'
import { DocumentList } from './list.js'
import { Tree } from './tree.js'

const VIEWS = [
  { id: 'list', title: 'All' },
  { id: 'tree', title: 'Folders' },
  { id: 'jobs', title: 'At work' },
  { id: 'failed', title: 'Failed' },
] as const
type View = (typeof VIEWS)[number]['id']

/** What is in a space: as a list, by folders, what is being read, what could not be. */
export function Documents() {
  const { rest, query } = usePlace()
  const { space, isLoading, error } = useSpace()
  const view: View = VIEWS.find(({ id }) => id === query.get('view'))?.id ?? 'list'
  const words = query.get('name') ?? ''
  const stats = useRead(
    'GET /knowledge-spaces/{id}/stats',
    { path: { id: space?.id ?? '' }, query: {} },
    { enabled: space !== undefined },
  )
  if (error !== null && error !== undefined) return <Failure error={error} />
  if (isLoading) return <Skeleton lines={8} />
  if (space === undefined)
    return (
      <Empty icon="documents" title="No spaces yet">
        <p>Documents live in a space.</p>
        <Link className="button button-primary" to={address('spaces')}>
          Go to the spaces
        </Link>
      </Empty>
    )
  const [documentId] = rest
  if (documentId !== undefined) return <DocumentPage key={documentId} spaceId={space.id} documentId={documentId} />
  const total = stats.data?.storage.documentCount
  return (
    <>
      <PageHead
        title="Documents"
        lead={total === undefined ? undefined : `${plural(total, 'document')} in ${space.name}`}
        actions={
          <input
            className="input documents-filter"
            type="search"
            aria-label="Part of a name"
            placeholder="Part of a name"
            value={words}
            onChange={(event) => setQuery({ name: event.target.value, view: undefined }, { replace: true })}
          />
        }
      />
      {words === '' ? (
        <>
          <Tabs label="Views" tabs={VIEWS} value={view} onChange={(id) => setQuery({ view: id })} />
          {view === 'list' && <DocumentList spaceId={space.id} total={total} />}
          {view === 'tree' && <Tree spaceId={space.id} />}
          {(view === 'jobs' || view === 'failed') && <Jobs key={view} spaceId={space.id} state={view} />}
        </>
      ) : (
        <FoundDocuments spaceId={space.id} words={words} />
      )}
    </>
  )
}
