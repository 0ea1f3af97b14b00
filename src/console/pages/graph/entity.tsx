import type { UseQueryResult } from '@tanstack/react-query'
import type { GraphEntity, GraphTraversal } from '../../../contract/gateway/graph.js'
import { useRead } from '../../api/use.js'
import { setQuery } from '../../router.js'
import { Button } from '../../ui/button.js'
import { formatCount, plural } from '../../ui/format.js'
import { Badge, DegradedNotice, Loaded } from '../../ui/state.js'
import { QuotedPassage } from '../../viewer/quoted-passage.js'

interface EntityPanelProps {
  spaceId: string
  entityId: string
  traversal: UseQueryResult<GraphTraversal>
}

/** Panel of an entity: its relations and the passages that name it. */
export function EntityPanel({ spaceId, entityId, traversal }: EntityPanelProps) {
  return (
    <section className="stack" aria-label="Entity">
      <Button small kind="quiet" icon="back" onClick={() => setQuery({ entity: undefined })}>
        Back to the space
      </Button>
      <Loaded query={traversal} lines={6}>
        {({ entities, relations, degradedReasons }) => {
          const entity = entities.find(({ id }) => id === entityId)
          return entity === undefined ? (
            <p className="muted">This entity is no longer in the graph.</p>
          ) : (
            <>
              <header>
                <h2 className="wrap">{entity.name}</h2>
                <p className="row small muted">
                  <Badge tone="accent">{entity.type}</Badge>
                  <span>{formatPassageCount(entity)}</span>
                </p>
                {entity.aliases.length > 0 && <p className="small muted wrap">Also {entity.aliases.join(', ')}</p>}
              </header>
              <DegradedNotice reasons={degradedReasons} />
              <Relations entity={entity} entities={entities} relations={relations} />
              <EntityPassages spaceId={spaceId} entity={entity} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function formatPassageCount({ sourceNodeIds, metadata }: GraphEntity): string {
  const count = plural(sourceNodeIds.length, 'passage')
  return metadata.sourceNodesTruncated === true ? `${count} and more` : count
}

interface RelationsProps {
  entity: GraphEntity
  entities: readonly GraphEntity[]
  relations: GraphTraversal['relations']
}

function Relations({ entity, entities, relations }: RelationsProps) {
  const names = new Map(entities.map(({ id, name }) => [id, name]))
  const entityRelations = relations
    .filter(({ subjectEntityId, objectEntityId }) => subjectEntityId === entity.id || objectEntityId === entity.id)
    .sort((a, b) => Number(a.type === 'mentions') - Number(b.type === 'mentions') || b.confidence - a.confidence)
  return (
    <div>
      <h3>{plural(entityRelations.length, 'relation')}</h3>
      <ul className="graph-list">
        {entityRelations.map(({ id, subjectEntityId, objectEntityId, type, metadata }) => {
          const isSubject = subjectEntityId === entity.id
          const otherId = isSubject ? objectEntityId : subjectEntityId
          const predicate =
            typeof metadata.predicate === 'string' && metadata.predicate !== '' ? metadata.predicate : type
          return (
            <li key={id}>
              <button type="button" className="graph-item" onClick={() => setQuery({ entity: otherId })}>
                <span className="graph-name">{names.get(otherId) ?? 'not shown'}</span>
                <span className="small faint">
                  {isSubject ? '' : '← '}
                  {type === 'mentions' ? 'mentioned with it' : predicate.replaceAll('_', ' ')}
                </span>
              </button>
            </li>
          )
        })}
      </ul>
    </div>
  )
}

const MAX_PASSAGES = 20

/** Passages of an entity, which contains only their ids: a search for its name returns locations and texts. */
function EntityPassages({ spaceId, entity }: { spaceId: string; entity: GraphEntity }) {
  const search = useRead('POST /knowledge-spaces/{id}/queries/search', {
    path: { id: spaceId },
    body: { query: entity.name, activeEntityIds: [entity.id], limit: 100 },
  })
  return (
    <div className="stack">
      <h3>Passages</h3>
      <Loaded query={search} lines={4}>
        {({ items }) => {
          const passages = items.filter(({ nodeId }) => entity.sourceNodeIds.includes(nodeId))
          const hiddenCount = entity.sourceNodeIds.length - Math.min(passages.length, MAX_PASSAGES)
          return (
            <>
              {passages.slice(0, MAX_PASSAGES).map((passage) => (
                <QuotedPassage key={passage.nodeId} spaceId={spaceId} passage={passage} />
              ))}
              {hiddenCount > 0 && (
                <p className="small muted">
                  {formatCount(hiddenCount)} of {plural(entity.sourceNodeIds.length, 'passage')} are not shown: a search
                  for the name ranks them lower.
                </p>
              )}
            </>
          )
        }}
      </Loaded>
    </div>
  )
}
