import { useBoundedList } from '../../api/bounded-list.js'
import { useRead, useWrite } from '../../api/use.js'
import { pageHref, setQuery, useRoute } from '../../router.js'
import { Button, classes, Link } from '../../ui/button.js'
import { formatCount, plural } from '../../ui/format.js'
import { Badge, DegradedNotice, Empty, Loaded } from '../../ui/state.js'
import { showToast } from '../../ui/toast.js'

const LS = 'GET /knowledge-spaces/{id}/fs/ls'
const FOLDER = '/knowledge/topics'

/** Tab of topics: groups of documents about the same subject. */
export function Topics({ spaceId }: { spaceId: string }) {
  const { query } = useRoute()
  const path = { id: spaceId }
  const topics = useRead(LS, { path, query: { path: FOLDER, limit: 1000 } })
  const make = useWrite('POST /knowledge-spaces/{id}/semantic-views/topic/materialize', [LS])
  const build = () =>
    make.mutate(
      { path, body: { limit: 100 } },
      {
        onSuccess: ({ topicCount = 0 }) => showToast(`${plural(topicCount, 'topic')} found.`),
        onError: (error) => showToast(error.message, 'bad'),
      },
    )
  const selected = query.get('topic') ?? topics.data?.items[0]?.name
  const button = (
    <Button icon="refresh" busy={make.isPending} onClick={build}>
      Regroup the documents
    </Button>
  )
  return (
    <Loaded query={topics} lines={8}>
      {({ items, degradedReasons }) => (
        <div className="stack">
          <DegradedNotice reasons={degradedReasons} />
          {items.length === 0 ? (
            <Empty icon="graph" title="No topics yet">
              <p>Documents that share characteristic words are grouped, and each group is named by them.</p>
              {button}
            </Empty>
          ) : (
            <>
              <div className="row">{button}</div>
              <div className="topics">
                <ul className="graph-list" aria-label="Topics">
                  {items.map(({ name, metadata }) => (
                    <li key={name}>
                      <button
                        type="button"
                        className={classes('graph-item', name === selected && 'is-selected')}
                        aria-pressed={name === selected}
                        onClick={() => setQuery({ topic: name })}
                      >
                        <span className="graph-name">{topicTitle(metadata, name)}</span>
                        <span className="row small faint number">
                          {typeof metadata.documentCount === 'number' && plural(metadata.documentCount, 'document')}
                          {metadata.stale === true && <Badge tone="warn">does not cover all</Badge>}
                        </span>
                      </button>
                    </li>
                  ))}
                </ul>
                {selected !== undefined && <TopicDocuments key={selected} spaceId={spaceId} topic={selected} />}
              </div>
            </>
          )}
        </div>
      )}
    </Loaded>
  )
}

function topicTitle(metadata: Record<string, unknown>, slug: string): string {
  const name = metadata.topicName ?? metadata.name ?? metadata.title
  return typeof name === 'string' ? name : slug
}

const MAX_DOCUMENTS = 500

function TopicDocuments({ spaceId, topic }: { spaceId: string; topic: string }) {
  const documents = useBoundedList(
    LS,
    (cursor) => ({
      path: { id: spaceId },
      query: { path: `${FOLDER}/${topic}`, limit: 100, ...(cursor === undefined ? {} : { cursor }) },
    }),
    { maxItems: MAX_DOCUMENTS },
  )
  return (
    <Loaded query={documents}>
      {({ items, isTruncated }) => (
        <section className="panel" aria-label="Documents of the topic">
          <ul className="graph-list">
            {items.map(({ name, targetId, metadata }) => (
              <li key={name} className="wrap">
                {targetId === undefined ? (
                  name
                ) : (
                  <Link to={pageHref('documents', [targetId])}>
                    {typeof metadata.filename === 'string' ? metadata.filename : name}
                  </Link>
                )}
              </li>
            ))}
          </ul>
          {isTruncated && <p className="small muted">The first {formatCount(MAX_DOCUMENTS)} are listed.</p>}
        </section>
      )}
    </Loaded>
  )
}
