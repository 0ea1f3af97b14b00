import type { DocumentAsset } from '../../../contract/gateway/documents.js'
import type { VirtualItem } from '../../../contract/gateway/fs.js'
import { useRead } from '../../api/use.js'
import { setQuery } from '../../router.js'
import { Button } from '../../ui/button.js'
import { formatLocation, splitPath } from '../../ui/format.js'
import { Empty, Loaded, Notice, Skeleton } from '../../ui/state.js'
import { useVisible } from '../../ui/visible.js'

const MAX_PASSAGES = 300
const MAX_NAME_CHARS = 240
const MAX_PASSAGE_BYTES = 20_000
const FIND = 'GET /knowledge-spaces/{id}/fs/find'
/** folder of the virtual file system that contains a folder of passages for each document */
const DOCUMENTS_FOLDER = '/knowledge/documents'

/** Tab of a document's passages in order. */
export function PassagesTab({ asset }: { asset: DocumentAsset }) {
  const path = { id: asset.knowledgeSpaceId }
  const name = splitPath(asset.filename).name.slice(0, MAX_NAME_CHARS)
  // several documents may have this name: the id identifies the folder
  const sameName = useRead(FIND, {
    path,
    query: { path: DOCUMENTS_FOLDER, nameContains: name, resourceType: 'document', limit: 1000 },
  })
  const folder = sameName.data?.items.find(({ targetId }) => targetId === asset.id)?.path
  const nodes = useRead(
    FIND,
    { path, query: { path: folder ?? DOCUMENTS_FOLDER, resourceType: 'node', limit: MAX_PASSAGES } },
    { enabled: folder !== undefined },
  )
  if (sameName.data !== undefined && folder === undefined)
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
            {items
              .toSorted((a, b) => getOrdinal(a) - getOrdinal(b))
              .map((node) => (
                <DocumentPassageRow key={node.path} node={node} spaceId={asset.knowledgeSpaceId} />
              ))}
          </ol>
        </div>
      )}
    </Loaded>
  )
}

/** Index of a passage in its document. */
function getOrdinal({ metadata }: VirtualItem): number {
  return Number(metadata.ordinal ?? 0)
}

function DocumentPassageRow({ node, spaceId }: { node: VirtualItem; spaceId: string }) {
  const [row, isSeen] = useVisible<HTMLLIElement>()
  const text = useRead(
    'GET /knowledge-spaces/{id}/fs/cat',
    { path: { id: spaceId }, query: { path: node.path, maxBytes: MAX_PASSAGE_BYTES } },
    { enabled: isSeen },
  )
  const { startOffset, endOffset, sectionPath, pageNumber } = node.metadata
  const sections = Array.isArray(sectionPath) ? sectionPath.map(String) : []
  return (
    <li className="passage-row" ref={row}>
      <div className="row passage-row-head">
        <span className="faint small number">{getOrdinal(node) + 1}</span>
        <span className="muted small wrap">
          {formatLocation(typeof pageNumber === 'number' ? pageNumber : undefined, sections)}
        </span>
        <Button small kind="quiet" onClick={() => setQuery({ tab: 'read', at: `${startOffset}-${endOffset}` })}>
          In the text
        </Button>
      </div>
      {text.data === undefined ? <Skeleton lines={2} /> : <p className="passage-row-text wrap">{text.data.content}</p>}
    </li>
  )
}
