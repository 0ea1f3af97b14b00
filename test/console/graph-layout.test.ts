import { describe, expect, it } from 'vitest'
import { buildSpaceDrawing, type SpaceGraph } from '../../src/console/pages/graph/drawing.js'
import { layoutGroups } from '../../src/console/pages/graph/grouped-layout.js'
import type { Community } from '../../src/contract/gateway/communities.js'

const COMMUNITY_COUNT = 40
const ENTITIES_PER_COMMUNITY = 250

const makeCommunity = (index: number): Community => ({
  slug: `c${index}`,
  name: `C${index}, D${index} and E${index}`,
  terms: [`C${index}`],
  entityCount: 100,
  documentCount: 1,
  generatedVersion: 'v',
  coveredDocuments: 1,
  totalDocuments: 1,
  stale: false,
  report: { title: '', writtenBy: 'rules', statements: [] },
})

const entityOf = (community: number, index: number) => ({
  id: `e${community}-${index}`,
  name: `E ${community} ${index}`,
})
const idOf = (community: number, index: number) => entityOf(community, index).id

/** A tree of entities for each community, related to the tree of the next community, and one isolated entity. */
function makeGraph(): SpaceGraph {
  const entities: SpaceGraph['entities'] = []
  const relations: SpaceGraph['relations'] = []
  for (let community = 0; community < COMMUNITY_COUNT; community++) {
    const nextRoot = idOf((community + 1) % COMMUNITY_COUNT, 0)
    for (let index = 0; index < ENTITIES_PER_COMMUNITY; index++) {
      entities.push(entityOf(community, index))
      const isLast = index + 1 === ENTITIES_PER_COMMUNITY
      const to = isLast ? nextRoot : idOf(community, Math.floor((index + 1) / 5))
      relations.push({ from: idOf(community, index), to, isStated: false })
    }
    relations.push({ from: idOf(community, 1), to: nextRoot, isStated: false })
  }
  entities.push({ id: 'alone', name: 'Alone' })
  return { entities, relations, isTruncated: false }
}

const communities = Array.from({ length: COMMUNITY_COUNT }, (_, index) => makeCommunity(index))
const members = communities.map(({ slug }, community) => ({
  slug,
  entities: Array.from({ length: 100 }, (_, index) => entityOf(community, index)),
}))

describe('the picture of a complete graph', () => {
  const { dots, lines } = buildSpaceDrawing(communities, members, makeGraph())

  it('contains ten thousand entities, each in the community of its relations, and no isolated entity', () => {
    expect(dots).toHaveLength(COMMUNITY_COUNT * (ENTITIES_PER_COMMUNITY + 1))
    expect(dots.find(({ id }) => id === idOf(7, ENTITIES_PER_COMMUNITY - 2))?.community).toBe(7)
    expect(dots.some(({ id }) => id === 'alone')).toBe(false)
    const bridges = lines.filter(({ relationCount }) => relationCount !== undefined)
    expect(bridges).toHaveLength(COMMUNITY_COUNT)
    expect(dots[0]).toMatchObject({ kind: 'community', label: 'C0' })
  })

  it('arranges the entities of each community in a circle, apart from all further communities', () => {
    const indexById = new Map(dots.map(({ id }, index) => [id, index]))
    const input = {
      x: dots.map(() => 0),
      y: dots.map(() => 0),
      size: dots.map(({ size }) => size),
      groups: dots.map(({ community }) => community),
      edges: lines
        .filter(({ relationCount }) => relationCount === undefined)
        .map(({ from, to }): [number, number, number] => [indexById.get(from) ?? 0, indexById.get(to) ?? 0, 1]),
    }
    // Forces that scatter all entities, and put two circles on top of each other.
    const applyForces = ({ x, y }: { x: number[]; y: number[] }) => {
      for (const index of x.keys()) {
        x[index] = index < 2 ? 5 : (index * 7919) % 1009
        y[index] = index < 2 ? 5 : (index * 104_729) % 997
      }
    }
    const updates: { x: number[]; y: number[]; isLast: boolean }[] = []
    layoutGroups(input, applyForces, ({ x, y, isLast }) => updates.push({ x: [...x], y: [...y], isLast }))
    expect(updates.map(({ isLast }) => isLast)).toEqual([false, true])
    const radius = 6 * Math.sqrt(ENTITIES_PER_COMMUNITY + 3)
    for (const { x, y } of updates) {
      const distance = (a: number, b: number) => Math.hypot((x[a] ?? 0) - (x[b] ?? 0), (y[a] ?? 0) - (y[b] ?? 0))
      // The first dots are the communities.
      for (const [index, { community }] of dots.entries())
        expect(distance(index, community)).toBeLessThanOrEqual(radius)
      for (let first = 0; first < COMMUNITY_COUNT; first++)
        for (let second = first + 1; second < COMMUNITY_COUNT; second++)
          expect(distance(first, second)).toBeGreaterThan(1.9 * radius)
    }
  })
})
