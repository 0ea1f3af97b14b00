import { MultiUndirectedGraph } from 'graphology'
import type { Attributes } from 'graphology-types'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { Sigma } from 'sigma'
import type { NodeDisplayData } from 'sigma/types'
import { IconButton } from '../../ui/button.js'
import { getThemeKey, resolveColour, subscribeToTheme } from '../../ui/theme-colours.js'
import type { GraphDrawing } from './drawing.js'
import { getCommunityColour } from './entity-drawing.js'
import { computeMean, GOLDEN_ANGLE } from './grouped-layout.js'
import { startLayout } from './layout.js'
import type { LayoutInput } from './layout-messages.js'

export interface GraphPictureProps {
  drawing: GraphDrawing
  label: string
  /** ids of the dots in the foreground; undefined for all */
  highlighted: ReadonlySet<string> | undefined
  /** id of the dot that the camera moves to; undefined for none */
  focusedId: string | undefined
  onSelect: (id: string) => void
}

/** In drawings with more lines, only lines between communities are shown when zoomed out. */
const MAX_LINES_ZOOMED_OUT = 1500
/** In drawings with more lines, lines and labels are hidden while the camera moves. */
const MAX_LINES_MOVING = 4000
/** Number of dots above which the camera moves closer to a dot. */
const LARGE_DOT_COUNT = 300
const MAX_LABEL_CHARS = 32
/** Camera ratio (visible fraction of the picture) above which the view counts as zoomed out. */
const ZOOMED_OUT_RATIO = 0.45
/** Camera ratio after a move to a dot, in a large and in a small picture. */
const FOCUS_RATIO = 0.14
const SMALL_FOCUS_RATIO = 0.6
const CAMERA_MOVE_MS = 500

/** Draws the graph with WebGL. The list next to it has the same content for keyboards and screen readers. */
export function GraphPicture({ drawing, label, highlighted, focusedId, onSelect }: GraphPictureProps) {
  const frame = useRef<HTMLDivElement>(null)
  const sigma = useRef<Sigma>(undefined)
  const positions = useRef(new Map<string, { x: number; y: number }>())
  const latest = useRef({ highlighted, onSelect })
  latest.current = { highlighted, onSelect }
  const theme = useSyncExternalStore(subscribeToTheme, getThemeKey)
  const [layoutCount, setLayoutCount] = useState(0)

  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours of the theme are read from the page
  useEffect(() => {
    const { current } = frame
    if (current === null) return
    const colours = readColours(current)
    const graph = createGraph(drawing, positions.current, colours)
    const isLarge = graph.size > MAX_LINES_ZOOMED_OUT
    let isZoomedOut = true
    const renderer = new Sigma(graph, current, {
      allowInvalidContainer: true,
      labelColor: { color: colours.text },
      labelFont: getComputedStyle(current).fontFamily,
      labelSize: 12,
      labelDensity: 0.6,
      labelGridCellSize: 120,
      labelRenderedSizeThreshold: 5,
      hideEdgesOnMove: graph.size > MAX_LINES_MOVING,
      hideLabelsOnMove: graph.size > MAX_LINES_MOVING,
      zIndex: true,
      defaultDrawNodeLabel: (context, node) => drawLabel(context, node, colours),
      defaultDrawNodeHover: (context, node) => drawHover(context, node, colours),
      nodeReducer: (id, data) => {
        const { highlighted: foreground } = latest.current
        if (foreground === undefined)
          return !isLarge ? data : isZoomedOut ? adjustZoomedOut(data) : adjustZoomedIn(data)
        return foreground.has(id)
          ? { ...(data.isHub === true ? { ...data, size: 4 } : data), zIndex: 1, forceLabel: foreground.size < 12 }
          : { ...data, color: colours.line, label: '' }
      },
      edgeReducer: (id, data) => {
        const { highlighted: foreground } = latest.current
        const isBridge = data.isBridge === true
        const isVisible =
          foreground === undefined
            ? isBridge === (isLarge && isZoomedOut)
            : !isBridge && graph.extremities(id).every((dotId) => foreground.has(dotId))
        return isVisible ? data : { ...data, hidden: true }
      },
    })
    sigma.current = renderer
    renderer.getCamera().on('updated', ({ ratio }) => {
      if (isZoomedOut === ratio > ZOOMED_OUT_RATIO) return
      isZoomedOut = ratio > ZOOMED_OUT_RATIO
      renderer.refresh({ skipIndexation: true, schedule: true })
    })
    renderer.on('clickNode', ({ node }) => latest.current.onSelect(node))
    renderer.on('enterNode', () => current.classList.add('is-over'))
    renderer.on('leaveNode', () => current.classList.remove('is-over'))
    const observer = new ResizeObserver(() => renderer.resize().refresh())
    observer.observe(current)
    const { isGrouped = false } = drawing
    const connected = graph.filterNodes((id) => isGrouped || graph.degree(id) > 0)
    const unconnected = graph.filterNodes((id) => !isGrouped && graph.degree(id) === 0)
    // communities without members stay where they are until their members are loaded
    const stopLayout =
      connected.length === 0
        ? () => undefined
        : startLayout(toLayoutInput(graph, connected, { isGrouped }), ({ x, y, isLast }) => {
            for (const [index, id] of connected.entries())
              positions.current.set(id, { x: x[index] ?? 0, y: y[index] ?? 0 })
            // one event for all nodes: one per node would block the page if there are thousands
            graph.updateEachNodeAttributes((id, attributes) => ({ ...attributes, ...positions.current.get(id) }), {
              attributes: ['x', 'y'],
            })
            for (const [index, position] of computeRing(x, y, unconnected.length).entries())
              graph.mergeNodeAttributes(unconnected[index] ?? '', position)
            if (isLast) {
              current.dataset.laid = 'true'
              setLayoutCount((count) => count + 1)
            }
          })
    return () => {
      stopLayout()
      observer.disconnect()
      renderer.kill()
      delete current.dataset.laid
      sigma.current = undefined
    }
  }, [drawing, theme])

  // biome-ignore lint/correctness/useExhaustiveDependencies: the renderer reads the highlighted dots while drawing
  useEffect(() => {
    sigma.current?.refresh()
  }, [highlighted])

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new drawing or layout moves the focused dot
  useEffect(() => {
    const position = focusedId === undefined ? undefined : sigma.current?.getNodeDisplayData(focusedId)
    if (position === undefined) return
    const ratio = drawing.dots.length > LARGE_DOT_COUNT ? FOCUS_RATIO : SMALL_FOCUS_RATIO
    const isMotionReduced = matchMedia('(prefers-reduced-motion: reduce)').matches
    void sigma.current
      ?.getCamera()
      .animate({ x: position.x, y: position.y, ratio }, { duration: isMotionReduced ? 0 : CAMERA_MOVE_MS })
  }, [focusedId, drawing, layoutCount])

  return (
    <div className="graph-picture">
      <div ref={frame} className="graph-canvas" role="img" aria-label={label} />
      <div className="graph-zoom">
        <IconButton icon="plus" label="Zoom in" onClick={() => void sigma.current?.getCamera().animatedZoom()} />
        <IconButton icon="minus" label="Zoom out" onClick={() => void sigma.current?.getCamera().animatedUnzoom()} />
        <IconButton icon="refresh" label="Show all" onClick={() => void sigma.current?.getCamera().animatedReset()} />
      </div>
    </div>
  )
}

/** Zoomed out, entities are small dots without labels. */
function adjustZoomedOut(data: Attributes): Partial<NodeDisplayData> {
  if (data.isHub === true) return { ...data, zIndex: 2 }
  return { ...data, label: '', size: Math.min(2.2, Number(data.size) * 0.5) }
}

/** Zoomed in, communities are small dots. */
function adjustZoomedIn(data: Attributes): Partial<NodeDisplayData> {
  return data.isHub === true ? { ...data, size: 3, zIndex: 2 } : data
}

interface GraphColours {
  text: string
  line: string
  surface: string
  isDark: boolean
}

/** Creates the graph. Dots start around their community's circle, so groups are visible before the layout is done. */
function createGraph(
  { dots, lines }: GraphDrawing,
  positions: ReadonlyMap<string, { x: number; y: number }>,
  colours: GraphColours,
) {
  const graph = new MultiUndirectedGraph()
  const counts = new Map<number, number>()
  for (const { id, label, community, size, kind } of dots) {
    const memberIndex = counts.get(community) ?? 0
    counts.set(community, memberIndex + 1)
    const communityDistance = 40 * Math.sqrt(Math.max(community, 0) + 1)
    const memberDistance = kind === 'community' ? 0 : 3 * Math.sqrt(memberIndex)
    const x =
      communityDistance * Math.cos(community * GOLDEN_ANGLE) + memberDistance * Math.cos(memberIndex * GOLDEN_ANGLE)
    const y =
      communityDistance * Math.sin(community * GOLDEN_ANGLE) + memberDistance * Math.sin(memberIndex * GOLDEN_ANGLE)
    graph.addNode(id, {
      label: label.length <= MAX_LABEL_CHARS ? label : `${label.slice(0, MAX_LABEL_CHARS - 1)}…`,
      size,
      color: getCommunityColour(community, colours),
      x,
      y,
      community,
      isHub: kind === 'community',
      ...positions.get(id),
    })
  }
  for (const { from, to, isStated, relationCount } of lines)
    graph.addEdge(from, to, {
      size: relationCount === undefined ? (isStated ? 1.4 : 0.6) : Math.min(6, 0.6 + 0.5 * Math.sqrt(relationCount)),
      color: colours.line,
      isBridge: relationCount !== undefined,
      weight: 1,
    })
  return graph
}

/** Computes positions on a circle around all others, for nodes without relations. */
function computeRing(x: readonly number[], y: readonly number[], count: number): { x: number; y: number }[] {
  const [centreX, centreY] = [computeMean(x), computeMean(y)]
  const radius =
    1.1 * x.reduce((max, value, index) => Math.max(max, Math.hypot(value - centreX, (y[index] ?? 0) - centreY)), 10)
  return Array.from({ length: count }, (_, index) => {
    const angle = (index / count) * 2 * Math.PI
    return { x: centreX + radius * Math.cos(angle), y: centreY + radius * Math.sin(angle) }
  })
}

function toLayoutInput(
  graph: MultiUndirectedGraph,
  connected: readonly string[],
  { isGrouped }: { isGrouped: boolean },
): LayoutInput {
  const indexById = new Map(connected.map((id, index) => [id, index]))
  const input: LayoutInput = { x: [], y: [], size: [], edges: [] }
  for (const id of connected) {
    const { x, y, size } = graph.getNodeAttributes(id)
    input.x.push(Number(x))
    input.y.push(Number(y))
    input.size.push(Number(size))
  }
  graph.forEachEdge((_, { weight, isBridge }, from, to) => {
    if (isBridge !== true) input.edges.push([indexById.get(from) ?? 0, indexById.get(to) ?? 0, Number(weight)])
  })
  return isGrouped
    ? { ...input, groups: connected.map((id) => Number(graph.getNodeAttribute(id, 'community'))) }
    : input
}

function readColours(frame: HTMLElement): GraphColours {
  const colours = {
    text: resolveColour(frame, '--text'),
    line: resolveColour(frame, '--line'),
    surface: resolveColour(frame, '--surface'),
  }
  const [red = 0] = (colours.surface.match(/\d+/g) ?? []).map(Number)
  return { ...colours, isDark: red < 128 }
}

/** Part of a drawn node, in pixels of the canvas. */
interface NodeLabel {
  x: number
  y: number
  size: number
  label?: string | null
  color: string
}

/** Draws a label on top of dots and lines. */
function drawLabel(
  context: CanvasRenderingContext2D,
  { x, y, size, label }: NodeLabel,
  { text: textColour, surface }: GraphColours,
) {
  if (label === null || label === undefined || label === '') return
  context.font = '500 12px system-ui, sans-serif'
  context.lineWidth = 4
  context.lineJoin = 'round'
  context.strokeStyle = surface
  context.strokeText(label, x + size + 4, y + 4)
  context.fillStyle = textColour
  context.fillText(label, x + size + 4, y + 4)
}

/** Draws the label of the node under the pointer, in a box. */
function drawHover(
  context: CanvasRenderingContext2D,
  { x, y, size, label, color }: NodeLabel,
  { text: textColour, surface }: GraphColours,
) {
  context.lineWidth = 2
  context.font = '600 12px system-ui, sans-serif'
  const text = label ?? ''
  const width = context.measureText(text).width
  context.fillStyle = surface
  context.strokeStyle = color
  context.beginPath()
  context.roundRect(x + size + 2, y - 11, width + 14, 22, 6)
  context.fill()
  context.stroke()
  context.beginPath()
  context.arc(x, y, size + 2, 0, Math.PI * 2)
  context.stroke()
  context.fillStyle = textColour
  context.fillText(text, x + size + 9, y + 4)
}
