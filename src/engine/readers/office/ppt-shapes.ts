import { readShapePicture } from './ppt-extras.js'
import { findShapeObject } from './ppt-objects.js'
import { type PptRecord, readRecords } from './ppt-records.js'
import { SlideTextReader, type SlideTextRun } from './ppt-text.js'

const DRAWING = 0x040c
const OUTLINE_REFERENCE = 0x0f9e
const DG_CONTAINER = 0xf002
const GROUP = 0xf003
const SHAPE = 0xf004
const CHILD_ANCHOR = 0xf00f
const TEXT_BOX = 0xf00d
const TERTIARY_OPTIONS = 0xf122
/** The property that marks a group as a table. */
const TABLE_PROPERTIES = 0x039f
const MAX_DEPTH = 100
/** Maximal number of shapes of one slide. */
const MAX_SHAPES = 20_000

export type OldShape =
  | { kind: 'text'; run: SlideTextRun }
  | { kind: 'table'; rows: string[][] }
  /** `number`: number of the picture in the presentation */
  | { kind: 'picture'; number: number; alt: string }
  /** `id`: number of the embedded object in the presentation */
  | { kind: 'object'; id: number }

interface TableShapeCell {
  left: number
  top: number
  text: string
}

/** The shapes of a slide or a page of notes, in drawing order; texts of placeholders come from the outline. */
export function listShapes(slide: PptRecord, outline: readonly SlideTextRun[]): OldShape[] {
  const shapes: OldShape[] = []
  for (const drawing of readRecords(slide.body)) {
    if (drawing.type !== DRAWING) continue
    for (const container of readRecords(drawing.body)) {
      if (container.type === DG_CONTAINER) collectShapes(container, outline, shapes)
    }
  }
  return shapes
}

/** Flattens groups with an explicit stack instead of recursion. */
function collectShapes(container: PptRecord, outline: readonly SlideTextRun[], shapes: OldShape[]): void {
  const pending: { record: PptRecord; depth: number }[] = [{ record: container, depth: 0 }]
  for (let visited = 0; visited < MAX_SHAPES; visited++) {
    const next = pending.pop()
    if (next === undefined) return
    const { record, depth } = next
    if (record.type === SHAPE) {
      const object = findShapeObject(record)
      if (object !== undefined) shapes.push({ kind: 'object', id: object })
      const picture = readShapePicture(record)
      if (picture !== undefined) shapes.push({ kind: 'picture', ...picture })
      for (const run of readTexts(record, outline)) shapes.push({ kind: 'text', run })
      continue
    }
    if (depth > MAX_DEPTH) continue
    const inner = [...readRecords(record.body)].filter(({ type }) => type === GROUP || type === SHAPE)
    const rows = record.type === GROUP && isTable(inner[0]) ? toRows(inner, outline) : []
    if (rows.length > 0) shapes.push({ kind: 'table', rows })
    else for (const child of inner.reverse()) pending.push({ record: child, depth: depth + 1 })
  }
}

/** Whether the first shape of a group marks the group as a table. */
function isTable(first: PptRecord | undefined): boolean {
  if (first?.type !== SHAPE) return false
  for (const options of readRecords(first.body)) {
    if (options.type !== TERTIARY_OPTIONS) continue
    for (let index = 0; index < options.instance && index * 6 + 6 <= options.body.length; index++) {
      const property = options.body.readUInt16LE(index * 6) & 0x3fff
      if (property === TABLE_PROPERTIES) return (options.body.readUInt32LE(index * 6 + 2) & 1) === 1
    }
  }
  return false
}

/** Cells are shapes; those with equal upper edges form a row. */
function toRows(shapes: readonly PptRecord[], outline: readonly SlideTextRun[]): string[][] {
  const cells = shapes.slice(1).flatMap((shape): TableShapeCell[] => {
    if (shape.type !== SHAPE) return []
    let left = 0
    let top = 0
    for (const { type, body } of readRecords(shape.body)) {
      if (type !== CHILD_ANCHOR || body.length < 16) continue
      left = body.readInt32LE(0)
      top = body.readInt32LE(4)
    }
    const runs = readTexts(shape, outline)
    // lines between cells are shapes of the group, too, without text
    return runs.length === 0
      ? []
      : [
          {
            left,
            top,
            text: runs
              .flatMap((run) => run.lines.map((line) => line.text))
              .join(' ')
              .replaceAll('\n', ' '),
          },
        ]
  })
  const lefts = [...new Set(cells.map((cell) => cell.left))].sort((a, b) => a - b)
  const column = new Map(lefts.map((left, index) => [left, index]))
  const rows = new Map<number, string[]>()
  // scattered shapes are not a grid: rows times columns must stay near the number of cells
  if (lefts.length * new Set(cells.map((cell) => cell.top)).size > cells.length * 4 + 16) return []
  for (const cell of cells.sort((a, b) => a.top - b.top || a.left - b.left)) {
    const row = rows.get(cell.top) ?? lefts.map(() => '')
    rows.set(cell.top, row)
    row[column.get(cell.left) ?? 0] = cell.text
  }
  return [...rows.values()]
}

function readTexts(shape: PptRecord, outline: readonly SlideTextRun[]): SlideTextRun[] {
  const runs: SlideTextRun[] = []
  for (const { type, body } of readRecords(shape.body)) {
    if (type !== TEXT_BOX) continue
    const reader = new SlideTextReader()
    for (const record of readRecords(body)) {
      reader.take(record)
      const referencedRun =
        record.type === OUTLINE_REFERENCE && record.body.length >= 4 ? outline[record.body.readUInt32LE(0)] : undefined
      if (referencedRun !== undefined) runs.push(referencedRun)
    }
    runs.push(...reader.finish())
  }
  return runs
}
