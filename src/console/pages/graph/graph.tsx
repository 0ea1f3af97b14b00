import './graph.css'
import { useQueries, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { Community } from '../../../contract/gateway/communities.js'
import type { GraphTraversal } from '../../../contract/gateway/graph.js'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useSpace } from '../../api/space.js'
import { useRead, useWrite } from '../../api/use.js'
import { setQuery, usePlace } from '../../router.js'
import { Button, classes } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { NoSpace } from '../../ui/no-space.js'
import { PageHead, Tabs } from '../../ui/parts.js'
import { Empty, Failure, Lacking, Loaded, Notice } from '../../ui/state.js'
import { say } from '../../ui/toast.js'
import { CommunityList, CommunityPanel } from './communities.js'
import { type Drawn, drawnOf, hubOf, type Members, type WholeGraph } from './drawn.js'
import { EntityPanel } from './entity.js'
import { aroundOf, membersOf, traversalOf } from './picture-of.js'
import { Search } from './search.js'
import { Topics } from './topics.js'
import { wholeGraph } from './whole.js'

const LEAD = 'Entities named in the documents of a space, their relations and topics.'
const COMMUNITIES = 'GET /knowledge-spaces/{id}/semantic-views/communities'
/** Interval of reading communities while they are being built. */
const MAKING_MS = 5_000
export const AROUND = { depth: 2, fanout: 20, maxNodes: 120, timeoutMs: 2000 }

const Picture = lazy(() => import('./picture.js').then((module) => ({ default: module.Picture })))

/** Page of the communities, entities and topics of a space. */
export function Graph() {
  const chosen = useSpace()
  const { space } = chosen
  const { query } = usePlace()
  const tab = query.get('tab') === 'topics' ? 'topics' : 'graph'
  return (
    <>
      <PageHead title="Graph and topics" lead={LEAD} />
      {space === undefined ? (
        <NoSpace of={chosen} icon="graph">
          The graph is built from entities named in the documents of a space.
        </NoSpace>
      ) : (
        <>
          <Tabs
            label="Graph and topics"
            tabs={[
              { id: 'graph', title: 'Graph' },
              { id: 'topics', title: 'Topics' },
            ]}
            value={tab}
            onChange={(to) => setQuery({ tab: to, community: undefined, entity: undefined, topic: undefined })}
          />
          {tab === 'topics' ? <Topics key={space.id} spaceId={space.id} /> : <OfSpace key={space.id} space={space} />}
        </>
      )}
    </>
  )
}

function OfSpace({ space }: { space: KnowledgeSpace }) {
  const path = { id: space.id }
  const communities = useRead(
    COMMUNITIES,
    { path, query: {} },
    { every: (last) => (last?.degradedReasons === undefined ? false : MAKING_MS) },
  )
  const make = useWrite('POST /knowledge-spaces/{id}/semantic-views/communities/materialize', [COMMUNITIES])
  const build = () =>
    make.mutate(
      { path, body: {} },
      {
        onSuccess: ({ communityCount }) => say(`${plural(communityCount, 'community', 'communities')} found.`),
        onError: (error) => say(error.message, 'bad'),
      },
    )
  return (
    <Loaded of={communities} lines={10}>
      {({ items, degradedReasons }) => (
        <div className="stack">
          <Lacking of={degradedReasons} />
          {items.length === 0 ? (
            <Empty icon="graph" title="No communities yet">
              <p>They group the people, organizations and things that the documents name together.</p>
              <Button kind="primary" busy={make.isPending} onClick={build}>
                Find communities
              </Button>
            </Empty>
          ) : (
            <Shown space={space} communities={items} />
          )}
        </div>
      )}
    </Loaded>
  )
}

function Shown({ space, communities }: { space: KnowledgeSpace; communities: readonly Community[] }) {
  const { query } = usePlace()
  const entityId = query.get('entity')
  const community = communities.find(({ slug }) => slug === query.get('community'))
  const version = communities[0]?.generatedVersion ?? ''
  const { members, error } = useQueries({
    queries: communities.map((one) => membersOf(space.id, one, version)),
    combine: (results) => {
      const isDone = results.every(({ isPending }) => !isPending)
      // one drawing of the communities, then a complete one: never one per result
      return {
        members: isDone ? results.map(({ data }) => data) : NONE,
        error: results.find((one) => one.error !== null)?.error,
      }
    },
  })
  const all = useQuery(wholeGraph(space.id, version))
  const around = useQuery({ ...traversalOf(space.id, entityId ?? '', AROUND), enabled: entityId !== null })
  const whole = useMemo(
    () => drawnOf(communities, members, members.length === 0 ? EMPTY : (all.data ?? EMPTY)),
    [communities, members, all.data],
  )
  const communityOf = useMemo(() => new Map(whole.dots.map(({ id, community: of }) => [id, of])), [whole])
  // an entity in the drawing is zoomed to; others get their own drawing
  const isHeld = entityId !== null && communityOf.has(entityId)
  const drawn = useMemo(
    () =>
      entityId !== null && !isHeld && around.data !== undefined ? aroundOf(entityId, around.data, communityOf) : whole,
    [entityId, isHeld, around.data, communityOf, whole],
  )
  const chosen = useMemo(() => {
    if (entityId !== null)
      return isHeld ? new Set([entityId, ...(around.data?.entities ?? []).map(({ id }) => id)]) : undefined
    if (community === undefined) return undefined
    const at = communities.indexOf(community)
    return new Set(whole.dots.flatMap(({ id, community: of }) => (of === at ? [id] : [])))
  }, [entityId, isHeld, around.data, community, communities, whole])
  const choose = (id: string) => {
    const hub = communities.find(({ slug }) => hubOf(slug) === id)
    setQuery(hub === undefined ? { entity: id } : { community: hub.slug, entity: undefined })
  }
  const failure = error ?? all.error
  return (
    <div className="graph">
      <div className="graph-main">
        {failure !== undefined && failure !== null && <Failure error={failure} />}
        <Drawing
          drawn={drawn}
          chosen={chosen}
          focus={entityId ?? (community === undefined ? undefined : hubOf(community.slug))}
          name={space.name}
          onChoose={choose}
        />
        <Said
          drawn={drawn}
          around={entityId === null ? undefined : around.data}
          isRead={members.length > 0 && !all.isPending}
          isCut={all.data?.isCut === true}
        />
      </div>
      <aside className="graph-side" aria-label="What is in the graph">
        <Search spaceId={space.id} />
        {entityId !== null ? (
          <EntityPanel key={entityId} spaceId={space.id} entityId={entityId} traversal={around} />
        ) : community !== undefined ? (
          <CommunityPanel
            community={community}
            spaceId={space.id}
            members={members[communities.indexOf(community)]?.entities}
          />
        ) : (
          <CommunityList communities={communities} />
        )}
      </aside>
    </div>
  )
}

const NONE: readonly (Members | undefined)[] = []
const EMPTY: WholeGraph = { entities: [], relations: [], isCut: false }

interface DrawingProps {
  drawn: Drawn
  chosen: ReadonlySet<string> | undefined
  focus: string | undefined
  name: string
  onChoose: (id: string) => void
}

function Drawing({ drawn, chosen, focus, name, onChoose }: DrawingProps) {
  const [canDraw] = useState(hasWebGl)
  if (!canDraw)
    return <Notice tone="warn">This browser does not support WebGL, so there is no picture; the list has the same content.</Notice>
  return (
    <Suspense fallback={<div className={classes('graph-picture', 'is-waiting')} />}>
      <Picture
        drawn={drawn}
        chosen={chosen}
        focus={focus}
        label={`Graph of ${name}; the list next to it has the same content`}
        onChoose={onChoose}
      />
    </Suspense>
  )
}

function hasWebGl(): boolean {
  const context = document.createElement('canvas').getContext('webgl2')
  // a page may have only a few contexts at a time
  context?.getExtension('WEBGL_lose_context')?.loseContext()
  return context !== null
}

interface SaidProps {
  drawn: Drawn
  /** neighbourhood of the selected entity */
  around: GraphTraversal | undefined
  isRead: boolean
  isCut: boolean
}

/** Summary of what the picture shows and leaves out. */
function Said({ drawn, around, isRead, isCut }: SaidProps) {
  if (around !== undefined)
    return (
      <p className="small muted">
        {plural(around.entities.length, 'entity', 'entities')} and {plural(around.relations.length, 'relation')} within
        two steps{around.truncated && `, the most certain ones; there are more`}.
      </p>
    )
  if (!isRead) return <p className="small muted">Loading the entities and their relations …</p>
  const lines = drawn.lines.filter(({ bridges }) => bridges === undefined).length
  const entities = drawn.dots.filter(({ kind }) => kind === 'entity').length
  return (
    <p className="small muted">
      {plural(entities, 'entity', 'entities')} and {plural(lines, 'relation')}
      {isCut && ', the maximum that is drawn; there are more'}. Zoom in or choose a community to see what is
      in it. Entities without relations are found only by search.
    </p>
  )
}
