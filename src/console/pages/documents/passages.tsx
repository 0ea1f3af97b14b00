import type { DocumentAsset } from '../../../contract/gateway/documents.js'
import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { useRead } from '../../api/use.js'
import { setQuery } from '../../router.js'
import { Button } from '../../ui/button.js'
import { splitPath } from '../../ui/format.js'
import { Empty, Loaded, Notice, Skeleton } from '../../ui/state.js'
import { useVisible } from '../../ui/visible.js'

const MAX_PASSAGES = 300
const FIND = 'GET /knowledge-spaces/{id}/fs/find'
const VIRTUAL_FOLDER = '/knowledge/documents'

/** Tab of a document's passages in order. */
export function PassagesTab({ asset }: { asset: DocumentAsset }) {
  const path = { id: asset.knowledgeSpaceId }
  const name = splitPath(asset.filename).name.slice(0, 240)
  // several documents may have this name: the id identifies the virtual path
  const namesakes = useRead(FIND, {
    path,
    query: { path: VIRTUAL_FOLDER, nameContains: name, resourceType: 'document', limit: 1000 },
  })
  const virtualPath = namesakes.data?.items.find(({ targetId }) => targetId === asset.id)?.path
  const nodes = useRead(
    FIND,
    { path, query: { path: virtualPath ?? VIRTUAL_FOLDER, resourceType: 'node', limit: MAX_PASSAGES } },
    { enabled: virtualPath !== undefined },
  )
  if (namesakes.data !== undefined && virtualPath === undefined)
    return (
      <Empty icon="documents" title="No passages">
        <p>This document is not published, or it is empty.</p>
      </Empty>
    )
  return (
    <Loaded query={nodes} lines={8}>
      {({ items, truncated }) => (
        <div className="stack">
          {truncated && <Notice>The first {items.length} passages are shown.</Notice>}
          <ol className="passage-list">
            {[...items].sort(byOrdinal).map((node) => (
              <DocumentPassageRow key={node.path} node={node} spaceId={asset.knowledgeSpaceId} />
            ))}
          </ol>
        </div>
      )}
    </Loaded>
  )
}

function byOrdinal(a: VirtualItem, b: VirtualItem): number {
  return Number(a.metadata.ordinal ?? 0) - Number(b.metadata.ordinal ?? 0)
}

function DocumentPassageRow({ node, spaceId }: { node: VirtualItem; spaceId: string }) {
  const [row, isSeen] = useVisible<HTMLLIElement>()
  const text = useRead(
    'GET /knowledge-spaces/{id}/fs/cat',
    { path: { id: spaceId }, query: { path: node.path, maxBytes: 20_000 } },
    { enabled: isSeen },
  )
  const { ordinal, startOffset, endOffset, sectionPath, pageNumber } = node.metadata
  const sections = Array.isArray(sectionPath) ? sectionPath.map(String) : []
  const location = [typeof pageNumber === 'number' ? `page ${pageNumber}` : '', ...sections].filter(
    (part) => part !== '',
  )
  return (
    <li className="passage-row" ref={row}>
      <div className="row passage-row-head">
        <span className="faint small number">{Number(ordinal ?? 0) + 1}</span>
        <span className="muted small wrap">{location.join(' › ')}</span>
        <Button small kind="quiet" onClick={() => setQuery({ tab: 'read', at: `${startOffset}-${endOffset}` })}>
          In the text
        </Button>
      </div>
      {text.data === undefined ? <Skeleton lines={2} /> : <p className="passage-row-text wrap">{text.data.content}</p>}
    </li>
  )
}
