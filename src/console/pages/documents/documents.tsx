import './documents.css'
import { useSpace } from '../../api/space.js'
import { useRead } from '../../api/use.js'
import { setQuery, useRoute } from '../../router.js'
import { plural } from '../../ui/format.js'
import { NoSpacePage } from '../../ui/no-space.js'
import { PageHead, Tabs } from '../../ui/parts.js'
import { DocumentPage } from './document.js'
import { DocumentsByName } from './documents-by-name.js'
import { DocumentJobs } from './jobs.js'
import { DocumentList } from './list.js'
import { FolderTree } from './tree.js'

const VIEWS = [
  { id: 'list', title: 'All' },
  { id: 'tree', title: 'Folders' },
  { id: 'jobs', title: 'In progress' },
  { id: 'failed', title: 'Failed' },
] as const
type DocumentsView = (typeof VIEWS)[number]['id']

/** Page of a space's documents: as a list, by folders, in progress, and failed. */
export function Documents() {
  const { rest, query } = useRoute()
  const selection = useSpace()
  const { space } = selection
  const view: DocumentsView = VIEWS.find(({ id }) => id === query.get('view'))?.id ?? 'list'
  const nameFilter = query.get('name') ?? ''
  const stats = useRead(
    'GET /knowledge-spaces/{id}/stats',
    { path: { id: space?.id ?? '' }, query: {} },
    { enabled: space !== undefined },
  )
  if (space === undefined)
    return (
      <NoSpacePage title="Documents" selection={selection} icon="documents">
        Documents belong to a space.
      </NoSpacePage>
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
            value={nameFilter}
            onChange={(event) => setQuery({ name: event.target.value, view: undefined }, { replace: true })}
          />
        }
      />
      {nameFilter === '' ? (
        <>
          <Tabs label="Views" tabs={VIEWS} value={view} onChange={(id) => setQuery({ view: id })} />
          {view === 'list' && <DocumentList spaceId={space.id} total={total} />}
          {view === 'tree' && <FolderTree spaceId={space.id} />}
          {(view === 'jobs' || view === 'failed') && (
            <DocumentJobs key={view} spaceId={space.id} isFailed={view === 'failed'} />
          )}
        </>
      ) : (
        <DocumentsByName spaceId={space.id} nameFilter={nameFilter} />
      )}
    </>
  )
}
