import { type Matrix, multiply, toNumbers } from './matrix.js'

/** A straight line drawn on a page. Lengths in points, origin bottom left. */
export interface DrawnRule {
  /** Position across its direction: y of a level rule, x of an upright one. */
  at: number
  from: number
  to: number
}

/** The drawings of a page that may belong to tables. */
export interface PageDrawings {
  level: DrawnRule[]
  upright: DrawnRule[]
  /** Filled areas of about the height of a row. */
  stripes: { left: number; right: number; bottom: number; top: number }[]
}

export const NO_DRAWINGS: PageDrawings = { level: [], upright: [], stripes: [] }

/** The drawings as if the page was seen in a mirror. */
export function mirrorDrawings({ level, upright, stripes }: PageDrawings): PageDrawings {
  return {
    level: level.map(({ at, from, to }) => ({ at, from: -to, to: -from })),
    upright: upright.map((rule) => ({ ...rule, at: -rule.at })),
    stripes: stripes.map((stripe) => ({ ...stripe, left: -stripe.right, right: -stripe.left })),
  }
}

/** The used operator numbers, named as in pdf.js. */
export interface OperatorNumbers {
  save: number
  restore: number
  transform: number
  constructPath: number
  endPath: number
  fill: number
  eoFill: number
  paintFormXObjectBegin: number
  paintFormXObjectEnd: number
  setFillRGBColor: number
}

/** The used parts of a saved graphics state. */
interface GraphicsState {
  matrix: Matrix
  /** `#rrggbb` of areas. */
  fill: string
}

interface WithFillColor {
  color: string
}

/** In points: maximal thickness and minimal length of a rule, and maximal height of a stripe. */
const MAX_THICKNESS = 2.6
const MIN_LENGTH = 6
const MAX_STRIPE = 90
const MAX_JOIN_DISTANCE = 1.2
/** Maximal number of rules on a page; drawings have more. */
const MAX_RULES = 20_000
const MAX_DEPTH = 64
/** Number of arguments of each path command: move, line, curve, quadratic curve, close. */
const ARGUMENT_COUNTS = [2, 2, 6, 4, 0]
const CLOSE = 4
/** Areas with more corners are drawings. */
const MAX_CORNERS = 8

type Point = [number, number]
type CollectedDrawings = {
  level: (DrawnRule & Partial<WithFillColor>)[]
  upright: (DrawnRule & Partial<WithFillColor>)[]
  stripes: (PageDrawings['stripes'][number] & WithFillColor)[]
}

/** Reads the level and upright rules and the stripes of a page from its operator list. */
export function readDrawings(list: { fnArray: unknown[]; argsArray: unknown[] }, ops: OperatorNumbers): PageDrawings {
  const collected: CollectedDrawings = { level: [], upright: [], stripes: [] }
  let state: GraphicsState = { matrix: [1, 0, 0, 1, 0, 0], fill: '#000000' }
  const savedStates: GraphicsState[] = []
  const save = (): void => {
    if (savedStates.length < MAX_DEPTH) savedStates.push(state)
  }
  for (const [index, fn] of list.fnArray.entries()) {
    const args = list.argsArray[index]
    if (fn === ops.save) save()
    else if (fn === ops.restore || fn === ops.paintFormXObjectEnd) state = savedStates.pop() ?? state
    else if (fn === ops.transform) state = { ...state, matrix: multiply(state.matrix, toNumbers(args)) }
    else if (fn === ops.setFillRGBColor) state = { ...state, fill: Array.isArray(args) ? String(args[0]) : '' }
    else if (fn === ops.paintFormXObjectBegin) {
      save()
      const form: unknown = Array.isArray(args) ? args[0] : undefined
      if (Array.isArray(form)) state = { ...state, matrix: multiply(state.matrix, toNumbers(form)) }
    } else if (fn === ops.constructPath && Array.isArray(args) && args[0] !== ops.endPath) {
      const path: unknown = Array.isArray(args[1]) ? args[1][0] : undefined
      const filled = args[0] === ops.fill || args[0] === ops.eoFill
      if (filled && state.fill === '#ffffff') continue
      readPath(toNumbers(path), state.matrix, filled ? state.fill : undefined, collected)
      if (collected.level.length + collected.upright.length + collected.stripes.length > MAX_RULES) return NO_DRAWINGS
    }
  }
  return removePadding(collected)
}

/** Removes narrow cells that are filled like the stripes: they are padding, not rules. */
function removePadding({ level, upright, stripes }: CollectedDrawings): PageDrawings {
  const fills = new Set(stripes.map(({ color }) => color))
  const isLine = ({ color }: Partial<WithFillColor>): boolean => color === undefined || !fills.has(color)
  return {
    level: joinRules(level.filter(isLine), MAX_JOIN_DISTANCE),
    upright: joinRules(upright.filter(isLine), MAX_JOIN_DISTANCE),
    stripes,
  }
}

/** Joins pieces of one rule. @param maxDistance maximal distance along and across it, in points */
export function joinRules(rules: readonly DrawnRule[], maxDistance: number): DrawnRule[] {
  const bands: DrawnRule[][] = []
  for (const rule of [...rules].sort((a, b) => a.at - b.at)) {
    const band = bands.at(-1)
    if (band?.[0] !== undefined && rule.at - band[0].at <= maxDistance) band.push(rule)
    else bands.push([rule])
  }
  return bands.flatMap((band) => {
    const lines: DrawnRule[] = []
    for (const { at, from, to } of band.sort((a, b) => a.from - b.from)) {
      const last = lines.at(-1)
      if (last !== undefined && from <= last.to + maxDistance) last.to = Math.max(last.to, to)
      else lines.push({ at, from, to })
    }
    return lines
  })
}

/** Reads the parts of a path: filled parts are areas; of other paths each straight segment is a rule. */
function readPath(
  path: readonly number[],
  [a, b, c, d, e, f]: Matrix,
  fill: string | undefined,
  collected: CollectedDrawings,
): void {
  let points: Point[] = []
  const endPart = (): void => {
    if (fill !== undefined) addArea(points, fill, collected)
    points = []
  }
  for (let index = 0; index < path.length; ) {
    const command = path[index] ?? CLOSE
    const count = ARGUMENT_COUNTS[command] ?? 0
    if (command === 0) endPart()
    const x = path[index + count - 1] ?? 0
    const y = path[index + count] ?? 0
    const last = points.at(-1)
    const next: Point | undefined = count > 0 ? [a * x + c * y + e, b * x + d * y + f] : points[0]
    const isStraight = command === 1 || command === CLOSE
    if (fill === undefined && last !== undefined && next !== undefined && isStraight)
      addArea([last, next], fill, collected)
    if (next !== undefined) points.push(next)
    index += 1 + count
  }
  endPart()
}

function addArea(points: readonly Point[], color: string | undefined, collected: CollectedDrawings): void {
  if (points.length < 2 || points.length > MAX_CORNERS) return
  let [left, bottom, right, top] = [Infinity, Infinity, -Infinity, -Infinity]
  for (const [x, y] of points) {
    left = Math.min(left, x)
    right = Math.max(right, x)
    bottom = Math.min(bottom, y)
    top = Math.max(top, y)
  }
  if (![left, right, bottom, top].every(Number.isFinite)) return
  const width = right - left
  const height = top - bottom
  const filled = color === undefined ? {} : { color }
  if (height <= MAX_THICKNESS && width >= MIN_LENGTH)
    collected.level.push({ at: (top + bottom) / 2, from: left, to: right, ...filled })
  else if (width <= MAX_THICKNESS && height >= MIN_LENGTH)
    collected.upright.push({ at: (left + right) / 2, from: bottom, to: top, ...filled })
  else if (color !== undefined && width > MAX_THICKNESS && height > MAX_THICKNESS && height <= MAX_STRIPE)
    collected.stripes.push({ left, right, bottom, top, color })
}
