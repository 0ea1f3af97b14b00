import { useBoundedList } from '../../api/bounded-list.js'
import { useRead, useWrite } from '../../api/use.js'
import { pageHref, setQuery, useRoute } from '../../router.js'
import { Button, classes, Link } from '../../ui/button.js'
import { formatCount, plural } from '../../ui/format.js'
import { Badge, DegradedNotice, Empty, Loaded } from '../../ui/state.js'
import { showError, showToast } from '../../ui/toast.js'

const LIST_FOLDER = 'GET /knowledge-spaces/{id}/fs/ls'
const TOPICS_FOLDER = '/knowledge/topics'
const MAX_DOCUMENTS = 500

/** Tab of topics: groups of documents about the same subject. */
export function Topics({ spaceId }: { spaceId: string }) {
  const { query } = useRoute()
  const path = { id: spaceId }
  const topics = useRead(LIST_FOLDER, { path, query: { path: TOPICS_FOLDER, limit: 1000 } })
  const materialize = useWrite('POST /knowledge-spaces/{id}/semantic-views/topic/materialize', [LIST_FOLDER])
  const regroup = () =>
    materialize.mutate(
      { path, body: { limit: 100 } },
      {
        onSuccess: ({ topicCount = 0 }) => showToast(`${plural(topicCount, 'topic')} found.`),
        onError: showError,
      },
    )
  const selected = query.get('topic') ?? topics.data?.items[0]?.name
  const regroupButton = (
    <Button icon="refresh" busy={materialize.isPending} onClick={regroup}>
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
              {regroupButton}
            </Empty>
          ) : (
            <>
              <div className="row">{regroupButton}</div>
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
                        <span className="graph-name">{getTopicTitle(metadata) ?? name}</span>
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

function getTopicTitle({ topicName, name, title }: Record<string, unknown>): string | undefined {
  const topicTitle = topicName ?? name ?? title
  return typeof topicTitle === 'string' ? topicTitle : undefined
}

function TopicDocuments({ spaceId, topic }: { spaceId: string; topic: string }) {
  const documents = useBoundedList(
    LIST_FOLDER,
    (position) => ({
      path: { id: spaceId },
      query: { path: `${TOPICS_FOLDER}/${topic}`, limit: 100, ...position },
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
