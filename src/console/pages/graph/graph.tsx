import './graph.css'
import { useQueries, useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { Community } from '../../../contract/gateway/communities.js'
import type { GraphTraversal } from '../../../contract/gateway/graph.js'
import type { KnowledgeSpace } from '../../../contract/gateway/spaces.js'
import { useSpace } from '../../api/space.js'
import { useRead, useWrite } from '../../api/use.js'
import { setQuery, useRoute } from '../../router.js'
import { Button } from '../../ui/button.js'
import { plural } from '../../ui/format.js'
import { NoSpace } from '../../ui/no-space.js'
import { PageHead, Tabs } from '../../ui/parts.js'
import { DegradedNotice, Empty, ErrorNotice, Loaded, Notice } from '../../ui/state.js'
import { showError, showToast } from '../../ui/toast.js'
import { CommunityList, CommunityPanel } from './communities.js'
import { buildSpaceDrawing, type CommunityMembers, type GraphDrawing, getHubId, type SpaceGraph } from './drawing.js'
import { EntityPanel } from './entity.js'
import { buildEntityDrawing, membersQuery, traversalQuery } from './entity-drawing.js'
import type { GraphPictureProps } from './picture.js'
import { EntitySearch } from './search.js'
import { spaceGraphQuery } from './space-graph.js'
import { Topics } from './topics.js'

const LEAD = 'Entities named in the documents of a space, their relations and topics.'
const COMMUNITIES = 'GET /knowledge-spaces/{id}/semantic-views/communities'
/** Interval of reading communities while they are being built. */
const BUILDING_POLL_MS = 5_000
const NEIGHBOURHOOD_BOUNDS = { depth: 2, fanout: 20, maxNodes: 120, timeoutMs: 2000 }

const GraphPicture = lazy(() => import('./picture.js').then((module) => ({ default: module.GraphPicture })))

/** Page of the communities, entities and topics of a space. */
export function Graph() {
  const selection = useSpace()
  const { space } = selection
  const { query } = useRoute()
  const tab = query.get('tab') === 'topics' ? 'topics' : 'graph'
  return (
    <>
      <PageHead title="Graph and topics" lead={LEAD} />
      {space === undefined ? (
        <NoSpace selection={selection} icon="graph">
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
            onChange={(id) => setQuery({ tab: id, community: undefined, entity: undefined, topic: undefined })}
          />
          {tab === 'topics' ? (
            <Topics key={space.id} spaceId={space.id} />
          ) : (
            <SpaceGraphTab key={space.id} space={space} />
          )}
        </>
      )}
    </>
  )
}

function SpaceGraphTab({ space }: { space: KnowledgeSpace }) {
  const path = { id: space.id }
  const communities = useRead(
    COMMUNITIES,
    { path, query: {} },
    { refetchInterval: (last) => (last?.degradedReasons === undefined ? false : BUILDING_POLL_MS) },
  )
  const materialize = useWrite('POST /knowledge-spaces/{id}/semantic-views/communities/materialize', [COMMUNITIES])
  const findCommunities = () =>
    materialize.mutate(
      { path, body: {} },
      {
        onSuccess: ({ communityCount }) => showToast(`${plural(communityCount, 'community', 'communities')} found.`),
        onError: showError,
      },
    )
  return (
    <Loaded query={communities} lines={10}>
      {({ items, degradedReasons }) => (
        <div className="stack">
          <DegradedNotice reasons={degradedReasons} />
          {items.length === 0 ? (
            <Empty icon="graph" title="No communities yet">
              <p>They group the people, organizations and things that the documents name together.</p>
              <Button kind="primary" busy={materialize.isPending} onClick={findCommunities}>
                Find communities
              </Button>
            </Empty>
          ) : (
            <SpaceGraphView space={space} communities={items} />
          )}
        </div>
      )}
    </Loaded>
  )
}

function SpaceGraphView({ space, communities }: { space: KnowledgeSpace; communities: readonly Community[] }) {
  const { query } = useRoute()
  const entityId = query.get('entity')
  const community = communities.find(({ slug }) => slug === query.get('community'))
  const version = communities[0]?.generatedVersion ?? ''
  const { members, error } = useQueries({
    queries: communities.map((item) => membersQuery(space.id, item, version)),
    combine: (results) => ({
      // all at once: a drawing per result would be slow
      members: results.some(({ isPending }) => isPending) ? NO_MEMBERS : results.map(({ data }) => data),
      error: results.find((result) => result.error !== null)?.error,
    }),
  })
  const spaceGraph = useQuery(spaceGraphQuery(space.id, version))
  const neighbourhood = useQuery({
    ...traversalQuery(space.id, entityId ?? '', NEIGHBOURHOOD_BOUNDS),
    enabled: entityId !== null,
  })
  const spaceDrawing = useMemo(
    () =>
      buildSpaceDrawing(communities, members, members.length === 0 ? EMPTY_GRAPH : (spaceGraph.data ?? EMPTY_GRAPH)),
    [communities, members, spaceGraph.data],
  )
  const communityOf = useMemo(
    () => new Map(spaceDrawing.dots.map(({ id, community: memberCommunity }) => [id, memberCommunity])),
    [spaceDrawing],
  )
  // an entity in the drawing of the space is zoomed to; others get a separate drawing
  const isInDrawing = entityId !== null && communityOf.has(entityId)
  const drawing = useMemo(
    () =>
      entityId !== null && !isInDrawing && neighbourhood.data !== undefined
        ? buildEntityDrawing(entityId, neighbourhood.data, communityOf)
        : spaceDrawing,
    [entityId, isInDrawing, neighbourhood.data, communityOf, spaceDrawing],
  )
  const highlighted = useMemo(() => {
    if (entityId !== null)
      return isInDrawing ? new Set([entityId, ...(neighbourhood.data?.entities ?? []).map(({ id }) => id)]) : undefined
    if (community === undefined) return undefined
    const communityIndex = communities.indexOf(community)
    return new Set(
      spaceDrawing.dots.flatMap(({ id, community: memberCommunity }) =>
        memberCommunity === communityIndex ? [id] : [],
      ),
    )
  }, [entityId, isInDrawing, neighbourhood.data, community, communities, spaceDrawing])
  const select = (id: string) => {
    const hub = communities.find(({ slug }) => getHubId(slug) === id)
    setQuery(hub === undefined ? { entity: id } : { community: hub.slug, entity: undefined })
  }
  const loadError = error ?? spaceGraph.error ?? undefined
  return (
    <div className="graph">
      <div className="graph-main">
        {loadError !== undefined && <ErrorNotice error={loadError} />}
        <PictureFrame
          drawing={drawing}
          highlighted={highlighted}
          focusedId={entityId ?? (community === undefined ? undefined : getHubId(community.slug))}
          label={`Graph of ${space.name}; the list next to it has the same content`}
          onSelect={select}
        />
        <GraphSummary
          drawing={drawing}
          neighbourhood={entityId === null ? undefined : neighbourhood.data}
          isLoaded={members.length > 0 && !spaceGraph.isPending}
          isTruncated={spaceGraph.data?.isTruncated === true}
        />
      </div>
      <aside className="graph-side" aria-label="What is in the graph">
        <EntitySearch spaceId={space.id} />
        {entityId !== null ? (
          <EntityPanel key={entityId} spaceId={space.id} entityId={entityId} traversal={neighbourhood} />
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

const NO_MEMBERS: readonly (CommunityMembers | undefined)[] = []
const EMPTY_GRAPH: SpaceGraph = { entities: [], relations: [], isTruncated: false }

/** The picture, or a notice if the browser cannot draw it. */
function PictureFrame(props: GraphPictureProps) {
  const [canDraw] = useState(hasWebGl)
  if (!canDraw)
    return (
      <Notice tone="warn">
        This browser does not support WebGL, so there is no picture; the list has the same content.
      </Notice>
    )
  return (
    <Suspense fallback={<div className="graph-picture" />}>
      <GraphPicture {...props} />
    </Suspense>
  )
}

function hasWebGl(): boolean {
  const context = document.createElement('canvas').getContext('webgl2')
  // a page may have only a few contexts at a time
  context?.getExtension('WEBGL_lose_context')?.loseContext()
  return context !== null
}

interface GraphSummaryProps {
  drawing: GraphDrawing
  /** neighbourhood of the selected entity */
  neighbourhood: GraphTraversal | undefined
  isLoaded: boolean
  isTruncated: boolean
}

/** Summary of what the picture shows and leaves out. */
function GraphSummary({ drawing, neighbourhood, isLoaded, isTruncated }: GraphSummaryProps) {
  if (neighbourhood !== undefined)
    return (
      <p className="small muted">
        {plural(neighbourhood.entities.length, 'entity', 'entities')} and{' '}
        {plural(neighbourhood.relations.length, 'relation')} within two steps
        {neighbourhood.truncated && `, the most certain ones; there are more`}.
      </p>
    )
  if (!isLoaded) return <p className="small muted">Loading the entities and their relations …</p>
  const relationCount = drawing.lines.filter((line) => line.relationCount === undefined).length
  const entityCount = drawing.dots.filter(({ kind }) => kind === 'entity').length
  return (
    <p className="small muted">
      {plural(entityCount, 'entity', 'entities')} and {plural(relationCount, 'relation')}
      {isTruncated && ', the maximum that is drawn; there are more'}. Zoom in or choose a community to see what is in
      it. Entities without relations are found only by search.
    </p>
  )
}
