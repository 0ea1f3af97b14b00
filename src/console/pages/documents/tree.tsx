import { useState } from 'react'
import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { useRead } from '../../api/use.js'
import { pageHref } from '../../router.js'
import { Link } from '../../ui/button.js'
import { Icon } from '../../ui/icon.js'
import { Empty, Loaded, Notice } from '../../ui/state.js'

/** Maximum number of entries of a folder that are shown. */
const MAX_ENTRIES = 500
const ROOT = '/sources'

/** Tree of the folders of documents; each folder loads when it is opened. */
export function FolderTree({ spaceId }: { spaceId: string }) {
  return <FolderEntries spaceId={spaceId} path={ROOT} />
}

function FolderEntries({ spaceId, path }: { spaceId: string; path: string }) {
  const listing = useRead('GET /knowledge-spaces/{id}/fs/ls', {
    path: { id: spaceId },
    query: { path, limit: MAX_ENTRIES },
  })
  return (
    <Loaded query={listing} lines={2}>
      {({ items, truncated }) =>
        items.length === 0 && path === ROOT ? (
          <Empty icon="folder" title="No folders yet">
            <p>Folders come with the documents that are dropped on the space.</p>
          </Empty>
        ) : (
          <>
            <ul className="tree-list">
              {items.map((item) => (
                <li key={`${item.kind} ${item.path}`}>
                  <FolderTreeEntry spaceId={spaceId} item={item} isOnlyEntry={items.length === 1} />
                </li>
              ))}
            </ul>
            {truncated && <Notice>Only the first {items.length} of this folder are shown.</Notice>}
          </>
        )
      }
    </Loaded>
  )
}

function FolderTreeEntry({ spaceId, item, isOnlyEntry }: { spaceId: string; item: VirtualItem; isOnlyEntry: boolean }) {
  // a folder that is the only entry is opened at once
  const [isOpen, setOpen] = useState(isOnlyEntry)
  if (item.kind === 'resource')
    return (
      <Link className="tree-item" to={pageHref('documents', [item.targetId ?? ''])}>
        <Icon name="file" size={16} />
        <span className="wrap">{item.name}</span>
      </Link>
    )
  return (
    <>
      <button type="button" className="tree-item" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? 'down' : 'next'} size={16} />
        <Icon name="folder" size={16} />
        <span className="wrap">{item.name}</span>
      </button>
      {isOpen && (
        <div className="tree-children">
          <FolderEntries spaceId={spaceId} path={item.path} />
        </div>
      )}
    </>
  )
}
