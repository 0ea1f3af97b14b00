import '../../viewer/quoted.css'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConflictSide, SpaceConflict } from '../../../contract/gateway/conflicts.js'
import { call } from '../../api/client.js'
import { Button } from '../../ui/button.js'
import { CheckBox } from '../../ui/fields.js'
import { formatDay, plural } from '../../ui/format.js'
import { Badge, DegradedNotice, Empty, ErrorNotice, Skeleton, type Tone } from '../../ui/state.js'
import { PassageLink } from '../graph/passage-link.js'

const CONFLICTS = 'GET /knowledge-spaces/{id}/conflicts'
const PAGE_SIZE = 50

const KIND_LABELS: Record<SpaceConflict['kind'], string> = {
  number: 'numbers',
  date: 'dates',
  negation: 'yes and no',
  opposite: 'opposites',
  alternative: 'one or the other',
}
const RELATION_LABELS: Record<SpaceConflict['relation'], { label: string; tone: Tone }> = {
  contradiction: { label: 'contradiction', tone: 'bad' },
  newer: { label: 'newer and older', tone: 'neutral' },
  other: { label: 'different things', tone: 'neutral' },
}

/** Statements of the space's documents that contradict each other, the newest first. */
export function Conflicts({ spaceId }: { spaceId: string }) {
  const [withDifferences, setWithDifferences] = useState(false)
  const pages = useInfiniteQuery({
    queryKey: [CONFLICTS, spaceId, withDifferences],
    queryFn: ({ pageParam, signal }) =>
      call(
        CONFLICTS,
        {
          path: { id: spaceId },
          query: {
            limit: PAGE_SIZE,
            includeDifferences: withDifferences ? 'true' : 'false',
            ...(pageParam === '' ? {} : { cursor: pageParam }),
          },
        },
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: (last) => last.nextCursor,
  })
  const first = pages.data?.pages[0]
  const items = pages.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <div className="stack">
      <CheckBox checked={withDifferences} onChange={(event) => setWithDifferences(event.target.checked)}>
        Also differences without a contradiction: another time, version, place or subject
      </CheckBox>
      {pages.isError ? (
        <ErrorNotice error={pages.error} retry={() => void pages.refetch()} />
      ) : first === undefined ? (
        <Skeleton lines={6} />
      ) : (
        <>
          <p className="small muted" role="status">
            {plural(first.comparedDocuments, 'document')} compared with all others.
          </p>
          <DegradedNotice reasons={first.degradedReasons} />
          {items.length === 0 ? (
            <Empty icon="check" title={first.pendingDocuments > 0 ? 'No contradictions so far' : 'No contradictions'}>
              <p>Each document is compared with the others once it is indexed: numbers, dates, and negations.</p>
            </Empty>
          ) : (
            <ul className="stack" aria-label="Conflicts">
              {items.map((conflict) => (
                <ConflictCard key={conflict.id} conflict={conflict} />
              ))}
            </ul>
          )}
          {pages.hasNextPage && (
            <div className="row">
              <Button icon="down" busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
                More
              </Button>
            </div>
          )}
        </>
      )}
    </div>
  )
}

function ConflictCard({ conflict }: { conflict: SpaceConflict }) {
  const { label, tone } = RELATION_LABELS[conflict.relation]
  return (
    <li className="panel stack conflict">
      <p className="row">
        <Badge tone={tone}>{label}</Badge>
        <strong className="wrap">{conflict.reason}</strong>
        <span className="small faint">
          {KIND_LABELS[conflict.kind]}, {conflict.decidedBy === 'model' ? 'confirmed by a model' : 'by rules'}
        </span>
      </p>
      <div className="conflict-sides">
        {conflict.sides.map((side) => (
          <ConflictPassage key={side.nodeId} side={side} spaceId={conflict.knowledgeSpaceId} />
        ))}
      </div>
    </li>
  )
}

/** The statement of one of the documents. */
function ConflictPassage({ side, spaceId }: { side: ConflictSide; spaceId: string }) {
  const { documentId, filename, nodeId, pageNumber, sectionPath, quote, storedAt } = side
  return (
    <div className="quoted">
      <PassageLink
        spaceId={spaceId}
        documentId={documentId}
        filename={filename}
        nodeId={nodeId}
        pageNumber={pageNumber}
        text={quote}
      />
      <p className="small faint wrap">
        {[...sectionPath, `published ${formatDay(storedAt)}`].filter((part) => part !== '').join(' › ')}
      </p>
      <p className="quoted-text wrap">{quote}</p>
    </div>
  )
}
