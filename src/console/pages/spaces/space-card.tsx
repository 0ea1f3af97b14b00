import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { rememberSpace } from '../../api/space.js'
import { useRead } from '../../api/use.js'
import { address } from '../../router.js'
import { Link } from '../../ui/button.js'
import { formatAgo, formatBytes, plural } from '../../ui/format.js'
import { Badge, Skeleton } from '../../ui/state.js'
import { useVisible } from '../../ui/visible.js'

/** while something is at work in it a space is looked at this often */
const BUSY_MS = 2_000

export function SpaceCard({ space }: { space: KnowledgeSpace }) {
  const [card, isSeen] = useVisible<HTMLLIElement>()
  const path = { id: space.id }
  const stats = useRead('GET /knowledge-spaces/{id}/stats', { path, query: {} }, { enabled: isSeen })
  const open = useRead(
    'GET /knowledge-spaces/{id}/jobs',
    { path, query: { state: 'open', limit: 100 } },
    { enabled: isSeen, every: (last) => (last !== undefined && last.items.length > 0 ? BUSY_MS : false) },
  )
  const failed = useRead(
    'GET /knowledge-spaces/{id}/jobs',
    { path, query: { state: 'failed', limit: 100 } },
    { enabled: isSeen },
  )
  const to = (page: string) => address(page, [], { space: space.slug })
  const remember = () => rememberSpace(space.slug)
  return (
    <li className="space-card" ref={card}>
      <div className="space-card-head">
        <h2 className="wrap">{space.name}</h2>
        <Freshness open={open.data?.items.length} failed={failed.data?.items.length} />
      </div>
      <p className="faint small mono wrap">{space.slug}</p>
      {space.description !== undefined && <p className="muted space-card-words">{space.description}</p>}
      {stats.data === undefined ? (
        <Skeleton lines={2} />
      ) : (
        <p className="space-card-figures number">
          <strong>{plural(stats.data.storage.documentCount, 'document')}</strong>
          <span className="faint">{formatBytes(stats.data.storage.rawDocumentBytes)}</span>
          <span className="faint">changed {formatAgo(space.updatedAt)}</span>
        </p>
      )}
      <div className="row space-card-end">
        <Link className="button button-primary button-small" to={to('ask')} onClick={remember}>
          Ask
        </Link>
        <Link className="button button-plain button-small" to={to('documents')} onClick={remember}>
          Documents
        </Link>
      </div>
    </li>
  )
}

/** Whether what is asked now is answered from everything that was given. */
function Freshness({ open, failed }: { open: number | undefined; failed: number | undefined }) {
  if (open === undefined || failed === undefined) return null
  if (open > 0) return <Badge tone="accent">{open === 100 ? 'reading 100 or more' : `reading ${open}`}</Badge>
  if (failed > 0) return <Badge tone="warn">{failed === 100 ? '100 or more failed' : `${failed} failed`}</Badge>
  return <Badge tone="good">up to date</Badge>
}
