import { useEvery } from '../../api/every.js'
import { useRead, useWrite } from '../../api/use.js'
import { address, setQuery, usePlace } from '../../router.js'
import { Button, classes, Link } from '../../ui/button.js'
import { formatCount, plural } from '../../ui/format.js'
import { Badge, Empty, Lacking, Loaded } from '../../ui/state.js'
import { say } from '../../ui/toast.js'

const LS = 'GET /knowledge-spaces/{id}/fs/ls'
const FOLDER = '/knowledge/topics'

/** Tab of topics: groups of documents about the same subject. */
export function Topics({ spaceId }: { spaceId: string }) {
  const { query } = usePlace()
  const path = { id: spaceId }
  const topics = useRead(LS, { path, query: { path: FOLDER, limit: 1000 } })
  const make = useWrite('POST /knowledge-spaces/{id}/semantic-views/topic/materialize', [LS])
  const build = () =>
    make.mutate(
      { path, body: { limit: 100 } },
      {
        onSuccess: ({ topicCount = 0 }) => say(`${plural(topicCount, 'topic')} found.`),
        onError: (error) => say(error.message, 'bad'),
      },
    )
  const chosen = query.get('topic') ?? topics.data?.items[0]?.name
  const button = (
    <Button icon="refresh" busy={make.isPending} onClick={build}>
      Regroup the documents
    </Button>
  )
  return (
    <Loaded of={topics} lines={8}>
      {({ items, degradedReasons }) => (
        <div className="stack">
          <Lacking of={degradedReasons} />
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
                        className={classes('graph-item', name === chosen && 'is-selected')}
                        aria-pressed={name === chosen}
                        onClick={() => setQuery({ topic: name })}
                      >
                        <span className="graph-name">{titleOf(metadata, name)}</span>
                        <span className="row small faint number">
                          {typeof metadata.documentCount === 'number' && plural(metadata.documentCount, 'document')}
                          {metadata.stale === true && <Badge tone="warn">does not cover all</Badge>}
                        </span>
                      </button>
                    </li>
                  ))}
                </ul>
                {chosen !== undefined && <Documents key={chosen} spaceId={spaceId} topic={chosen} />}
              </div>
            </>
          )}
        </div>
      )}
    </Loaded>
  )
}

function titleOf(metadata: Record<string, unknown>, slug: string): string {
  const name = metadata.topicName ?? metadata.name ?? metadata.title
  return typeof name === 'string' ? name : slug
}

const MOST = 500

function Documents({ spaceId, topic }: { spaceId: string; topic: string }) {
  const documents = useEvery(
    LS,
    (cursor) => ({
      path: { id: spaceId },
      query: { path: `${FOLDER}/${topic}`, limit: 100, ...(cursor === undefined ? {} : { cursor }) },
    }),
    { most: MOST },
  )
  return (
    <Loaded of={documents}>
      {({ items, isCut }) => (
        <section className="panel" aria-label="Documents of the topic">
          <ul className="graph-list">
            {items.map(({ name, targetId, metadata }) => (
              <li key={name} className="wrap">
                {targetId === undefined ? (
                  name
                ) : (
                  <Link to={address('documents', [targetId])}>
                    {typeof metadata.filename === 'string' ? metadata.filename : name}
                  </Link>
                )}
              </li>
            ))}
          </ul>
          {isCut && <p className="small muted">The first {formatCount(MOST)} are listed.</p>}
        </section>
      )}
    </Loaded>
  )
}
