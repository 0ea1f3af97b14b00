import { describe, expect, it } from 'vitest'
import { buildSpaceDrawing, type SpaceGraph } from '../../src/console/pages/graph/drawing.js'
import { layoutGroups } from '../../src/console/pages/graph/grouped-layout.js'
import type { Community } from '../../src/contract/gateway/communities.js'

const COMMUNITIES = 40
const EACH = 250

const community = (nth: number): Community => ({
  slug: `c${nth}`,
  name: `C${nth}, D${nth} and E${nth}`,
  terms: [`C${nth}`],
  entityCount: 100,
  documentCount: 1,
  generatedVersion: 'v',
  coveredDocuments: 1,
  totalDocuments: 1,
  stale: false,
  report: { title: '', writtenBy: 'rules', statements: [] },
})

const idOf = (of: number, nth: number) => `e${of}-${nth}`

/** Chains of entities, one for each community, with related ends. */
function chains(): SpaceGraph {
  const entities: SpaceGraph['entities'] = []
  const relations: SpaceGraph['relations'] = []
  for (let of = 0; of < COMMUNITIES; of++)
    for (let nth = 0; nth < EACH; nth++) {
      entities.push({ id: idOf(of, nth), name: `E ${of} ${nth}` })
      const to = nth + 1 < EACH ? idOf(of, Math.floor((nth + 1) / 5)) : idOf((of + 1) % COMMUNITIES, 0)
      relations.push({ from: idOf(of, nth), to, isStated: false })
    }
  for (let of = 0; of < COMMUNITIES; of++)
    relations.push({ from: idOf(of, 1), to: idOf((of + 1) % COMMUNITIES, 0), isStated: false })
  entities.push({ id: 'alone', name: 'Alone' })
  return { entities, relations, isTruncated: false }
}

const communities = Array.from({ length: COMMUNITIES }, (_, nth) => community(nth))
const members = communities.map(({ slug }, of) => ({
  slug,
  entities: Array.from({ length: 100 }, (_, nth) => ({ id: idOf(of, nth), name: `E ${of} ${nth}` })),
}))

describe('the picture of a complete graph', () => {
  const { dots, lines } = buildSpaceDrawing(communities, members, chains())

  it('contains ten thousand entities, each in the community of its relations, and no isolated entity', () => {
    expect(dots).toHaveLength(COMMUNITIES * (EACH + 1))
    expect(dots.find(({ id }) => id === idOf(7, EACH - 2))?.community).toBe(7)
    expect(dots.some(({ id }) => id === 'alone')).toBe(false)
    const relationCount = lines.filter(({ relationCount: many }) => many !== undefined)
    expect(relationCount).toHaveLength(COMMUNITIES)
    expect(dots[0]).toMatchObject({ kind: 'community', label: 'C0' })
  })

  it('arranges the entities of each community in a circle, apart from all further communities', () => {
    const place = new Map(dots.map(({ id }, at) => [id, at]))
    const what = {
      x: dots.map(() => 0),
      y: dots.map(() => 0),
      size: dots.map(({ size }) => size),
      groups: dots.map(({ community: of }) => of),
      edges: lines
        .filter(({ relationCount }) => relationCount === undefined)
        .map(({ from, to }): [number, number, number] => [place.get(from) ?? 0, place.get(to) ?? 0, 1]),
    }
    // Forces that scatter all entities, and put two circles on top of each other.
    const forces = (places: { x: number[]; y: number[] }) => {
      for (const at of places.x.keys()) {
        places.x[at] = at < 2 ? 5 : (at * 7919) % 1009
        places.y[at] = at < 2 ? 5 : (at * 104_729) % 997
      }
    }
    const told: { x: number[]; y: number[]; isLast: boolean }[] = []
    layoutGroups(what, forces, (x, y, isLast) => told.push({ x: [...x], y: [...y], isLast }))
    expect(told.map(({ isLast }) => isLast)).toEqual([false, true])
    const radius = 6 * Math.sqrt(EACH + 3)
    for (const { x, y } of told) {
      const from = (at: number, to: number) => Math.hypot((x[at] ?? 0) - (x[to] ?? 0), (y[at] ?? 0) - (y[to] ?? 0))
      for (const [at, { community: of }] of dots.entries()) expect(from(at, of)).toBeLessThanOrEqual(radius)
      for (let one = 0; one < COMMUNITIES; one++)
        for (let other = one + 1; other < COMMUNITIES; other++) expect(from(one, other)).toBeGreaterThan(1.9 * radius)
    }
  })
})
