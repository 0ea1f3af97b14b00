import { useDeferredValue } from 'react'
import { useRead } from '../../api/use.js'
import { pageHref } from '../../router.js'
import { Link } from '../../ui/button.js'
import { Icon } from '../../ui/icon.js'
import { Empty, Loaded, Notice } from '../../ui/state.js'

const MAX_DOCUMENTS = 200
const MAX_FILTER_CHARS = 240

/** Documents whose names contain a text. */
export function DocumentsByName({ spaceId, nameFilter }: { spaceId: string; nameFilter: string }) {
  const deferredFilter = useDeferredValue(nameFilter)
  const documents = useRead('GET /knowledge-spaces/{id}/fs/find', {
    path: { id: spaceId },
    query: {
      path: '/sources',
      nameContains: deferredFilter.slice(0, MAX_FILTER_CHARS),
      resourceType: 'document',
      limit: MAX_DOCUMENTS,
    },
  })
  return (
    <Loaded query={documents} lines={6}>
      {({ items, truncated }) =>
        items.length === 0 ? (
          <Empty icon="search" title="No document name contains this">
            <p>Only file names are searched, ignoring case. To search the content of documents, ask a question.</p>
          </Empty>
        ) : (
          <div className="stack">
            {truncated && (
              <Notice>Only the first {items.length} are shown. Type more letters to narrow the list.</Notice>
            )}
            <ul className="tree-list">
              {items.map(({ path, targetId = '', metadata }) => (
                <li key={path}>
                  <Link className="tree-item" to={pageHref('documents', [targetId])}>
                    <Icon name="file" size={16} />
                    <span className="wrap">{String(metadata.filename ?? path)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        )
      }
    </Loaded>
  )
}
