import { MultiUndirectedGraph } from 'graphology'
import type { Attributes } from 'graphology-types'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Sigma } from 'sigma'
import type { NodeDisplayData } from 'sigma/types'
import { IconButton } from '../../ui/button.js'
import { colourIn, onTheme, themeNow } from '../../ui/theme-now.js'
import type { Drawn } from './drawn.js'
import { layOut } from './layout.js'
import { colourOf } from './picture-of.js'
import type { ToLay } from './to-lay.js'

interface PictureProps {
  drawn: Drawn
  label: string
  /** dots in the foreground; undefined for all */
  chosen: ReadonlySet<string> | undefined
  /** dot that the camera moves to; undefined for none */
  focus: string | undefined
  onChoose: (id: string) => void
}

const GOLDEN_ANGLE = 2.399_963
/** In larger drawings only lines between communities are shown when zoomed out. */
const MANY_LINES = 1500
/** Camera ratio (visible fraction of the picture) above which the view counts as zoomed out. */
const AFAR = 0.45
/** Camera ratio after a move to a dot, in a large and in a small picture. */
const CLOSE = 0.14
const CLOSE_IN_SMALL = 0.6
const FLIGHT_MS = 500

/** Draws the graph with WebGL. The list next to it has the same content for keyboards and screen readers. */
export function Picture({ drawn, label, chosen, focus, onChoose }: PictureProps) {
  const frame = useRef<HTMLDivElement>(null)
  const sigma = useRef<Sigma>(undefined)
  const places = useRef(new Map<string, { x: number; y: number }>())
  const latest = useRef({ chosen, onChoose })
  latest.current = { chosen, onChoose }
  const theme = useSyncExternalStore(onTheme, themeNow)
  const [laid, setLaid] = useState(0)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the theme are read from the page
  useEffect(() => {
    const { current } = frame
    if (current === null) return
    const colours = coloursOf(current)
    const graph = graphOf(drawn, places.current, colours)
    const isLarge = graph.size > MANY_LINES
    let isAfar = true
    const drawing = new Sigma(graph, current, {
      allowInvalidContainer: true,
      labelColor: { color: colours.text },
      labelFont: getComputedStyle(current).fontFamily,
      labelSize: 12,
      labelDensity: 0.6,
      labelGridCellSize: 120,
      labelRenderedSizeThreshold: 5,
      hideEdgesOnMove: graph.size > 4000,
      hideLabelsOnMove: graph.size > 4000,
      zIndex: true,
      defaultDrawNodeLabel: (context, node) => drawLabel(context, node, colours),
      defaultDrawNodeHover: (context, node) => drawHover(context, node, colours),
      nodeReducer: (id, data) => {
        const { chosen: front } = latest.current
        if (front === undefined) return isLarge ? atDistance(data, isAfar) : data
        return front.has(id)
          ? { ...(data.isHub === true ? { ...data, size: 4 } : data), zIndex: 1, forceLabel: front.size < 12 }
          : { ...data, color: colours.line, label: '' }
      },
      edgeReducer: (id, data) => {
        const { chosen: front } = latest.current
        const isBridge = data.isBridge === true
        if (front === undefined) return isBridge === (isLarge && isAfar) ? data : { ...data, hidden: true }
        return !isBridge && graph.extremities(id).every((end) => front.has(end)) ? data : { ...data, hidden: true }
      },
    })
    sigma.current = drawing
    drawing.getCamera().on('updated', ({ ratio }) => {
      if (isAfar === ratio > AFAR) return
      isAfar = ratio > AFAR
      drawing.refresh({ skipIndexation: true, schedule: true })
    })
    drawing.on('clickNode', ({ node }) => latest.current.onChoose(node))
    drawing.on('enterNode', () => current.classList.add('is-over'))
    drawing.on('leaveNode', () => current.classList.remove('is-over'))
    const observer = new ResizeObserver(() => drawing.resize().refresh())
    observer.observe(current)
    const { isGrouped = false } = drawn
    const joined = graph.filterNodes((id) => isGrouped || graph.degree(id) > 0)
    const alone = graph.filterNodes((id) => !isGrouped && graph.degree(id) === 0)
    // communities without members stay where they are until their members are loaded
    const end =
      joined.length === 0
        ? () => undefined
        : layOut(toLay(graph, joined, isGrouped), ({ x, y, isLast }) => {
            for (const [at, id] of joined.entries()) {
              const place = { x: x[at] ?? 0, y: y[at] ?? 0 }
              places.current.set(id, place)
            }
            // one event for all nodes: one per node would block the page for ten thousand
            graph.updateEachNodeAttributes((id, attributes) => ({ ...attributes, ...places.current.get(id) }), {
              attributes: ['x', 'y'],
            })
            for (const [at, place] of ringOf(x, y, alone.length).entries())
              graph.mergeNodeAttributes(alone[at] ?? '', place)
            if (isLast) {
              current.dataset.laid = 'true'
              setLaid((count) => count + 1)
            }
          })
    return () => {
      end()
      observer.disconnect()
      drawing.kill()
      delete current.dataset.laid
      sigma.current = undefined
    }
  }, [drawn, theme])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the renderer reads the highlighted dots while drawing
  useEffect(() => {
    sigma.current?.refresh()
  }, [chosen])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new drawing or layout moves the focused dot
  useEffect(() => {
    const place = focus === undefined ? undefined : sigma.current?.getNodeDisplayData(focus)
    if (place === undefined) return
    const isLarge = drawn.dots.length > 300
    const ratio = isLarge ? CLOSE : CLOSE_IN_SMALL
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches
    void sigma.current?.getCamera().animate({ x: place.x, y: place.y, ratio }, { duration: still ? 0 : FLIGHT_MS })
  }, [focus, drawn, laid])

  return (
    <div className="graph-picture">
      <div ref={frame} className="graph-canvas" role="img" aria-label={label} />
      <div className="graph-zoom">
        <IconButton icon="plus" label="Zoom in" onClick={() => void sigma.current?.getCamera().animatedZoom()} />
        <IconButton icon="minus" label="Zoom out" onClick={() => void sigma.current?.getCamera().animatedUnzoom()} />
        <IconButton
          icon="refresh"
          label="Show all"
          onClick={() => void sigma.current?.getCamera().animatedReset()}
        />
      </div>
    </div>
  )
}

/** Zoomed out, communities have labels and their entities are small dots; zoomed in, it is the other way round. */
function atDistance(data: Attributes, isAfar: boolean): Partial<NodeDisplayData> {
  if (data.isHub === true) return isAfar ? { ...data, zIndex: 2 } : { ...data, size: 3, zIndex: 2 }
  return isAfar ? { ...data, label: '', size: Math.min(2.2, Number(data.size) * 0.5) } : data
}

interface Colours {
  text: string
  line: string
  surface: string
  isDark: boolean
}

function shortOf(label: string): string {
  return label.length <= 32 ? label : `${label.slice(0, 31)}…`
}

/** Creates the graph. Dots start around their community's circle, so groups are visible before the layout is done. */
function graphOf({ dots, lines }: Drawn, places: ReadonlyMap<string, { x: number; y: number }>, colours: Colours) {
  const graph = new MultiUndirectedGraph()
  const counts = new Map<number, number>()
  for (const { id, label, community, size, kind } of dots) {
    const nth = counts.get(community) ?? 0
    counts.set(community, nth + 1)
    const far = 40 * Math.sqrt(Math.max(community, 0) + 1)
    const near = kind === 'community' ? 0 : 3 * Math.sqrt(nth)
    const x = far * Math.cos(community * GOLDEN_ANGLE) + near * Math.cos(nth * GOLDEN_ANGLE)
    const y = far * Math.sin(community * GOLDEN_ANGLE) + near * Math.sin(nth * GOLDEN_ANGLE)
    graph.addNode(id, {
      label: shortOf(label),
      size,
      color: colourOf(community, colours.isDark),
      x,
      y,
      community,
      isHub: kind === 'community',
      ...places.get(id),
    })
  }
  for (const { from, to, isStated, bridges } of lines)
    graph.addEdge(from, to, {
      size: bridges === undefined ? (isStated ? 1.4 : 0.6) : Math.min(6, 0.6 + 0.5 * Math.sqrt(bridges)),
      color: colours.line,
      isBridge: bridges !== undefined,
      weight: 1,
    })
  return graph
}

/** Positions on a circle around all others, for nodes without relations. */
function ringOf(x: readonly number[], y: readonly number[], count: number): { x: number; y: number }[] {
  const middle = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1)
  const [atX, atY] = [middle(x), middle(y)]
  const far = 1.1 * x.reduce((most, value, at) => Math.max(most, Math.hypot(value - atX, (y[at] ?? 0) - atY)), 10)
  return Array.from({ length: count }, (_, at) => {
    const angle = (at / count) * 2 * Math.PI
    return { x: atX + far * Math.cos(angle), y: atY + far * Math.sin(angle) }
  })
}

function toLay(graph: MultiUndirectedGraph, joined: readonly string[], isGrouped: boolean): ToLay {
  const at = new Map(joined.map((id, place) => [id, place]))
  const what: ToLay = { x: [], y: [], size: [], edges: [] }
  for (const id of joined) {
    const { x, y, size } = graph.getNodeAttributes(id)
    what.x.push(Number(x))
    what.y.push(Number(y))
    what.size.push(Number(size))
  }
  graph.forEachEdge((_, { weight, isBridge }, from, to) => {
    if (isBridge !== true) what.edges.push([at.get(from) ?? 0, at.get(to) ?? 0, Number(weight)])
  })
  return isGrouped ? { ...what, groups: joined.map((id) => Number(graph.getNodeAttribute(id, 'community'))) } : what
}

function coloursOf(frame: HTMLElement): Colours {
  const colours = {
    text: colourIn(frame, '--text'),
    line: colourIn(frame, '--line'),
    surface: colourIn(frame, '--surface'),
  }
  const [red = 0] = (colours.surface.match(/\d+/g) ?? []).map(Number)
  return { ...colours, isDark: red < 128 }
}

interface Hovered {
  x: number
  y: number
  size: number
  label?: string | null
  color: string
}

/** Draws a label on top of dots and lines. */
function drawLabel(context: CanvasRenderingContext2D, { x, y, size, label }: Hovered, { text, surface }: Colours) {
  if (label === null || label === undefined || label === '') return
  context.font = '500 12px system-ui, sans-serif'
  context.lineWidth = 4
  context.lineJoin = 'round'
  context.strokeStyle = surface
  context.strokeText(label, x + size + 4, y + 4)
  context.fillStyle = text
  context.fillText(label, x + size + 4, y + 4)
}

function drawHover(
  context: CanvasRenderingContext2D,
  { x, y, size, label, color }: Hovered,
  { text, surface }: Colours,
) {
  context.lineWidth = 2
  context.font = '600 12px system-ui, sans-serif'
  const said = label ?? ''
  const width = context.measureText(said).width
  context.fillStyle = surface
  context.strokeStyle = color
  context.beginPath()
  context.roundRect(x + size + 2, y - 11, width + 14, 22, 6)
  context.fill()
  context.stroke()
  context.beginPath()
  context.arc(x, y, size + 2, 0, Math.PI * 2)
  context.stroke()
  context.fillStyle = text
  context.fillText(said, x + size + 9, y + 4)
}
