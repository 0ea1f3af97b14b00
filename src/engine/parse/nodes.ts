import type { CompiledElement, CompiledNode, CompiledOutlineNode } from './compiled.js'
import { type Assembled, sameTitle } from './elements.js'
import { commonSection } from './outline.js'
import { splitLines, splitText } from './split.js'
import { tableHeads } from './tables/passages.js'
import { countWords } from './words.js'

// Sizes in words. Nodes of about 200 words with 40 words of overlap and the heading path in every node retrieved best
// on the development sets; see docs on retrieval quality.
const TARGET = 200
const OVERLAP = 40
const LARGEST = 240
/** Maximum size that is never split: a short document, a short section, one paragraph. */
const WHOLE = 280
/** Tables and code lose their meaning when split, so they may be longer. */
const LARGEST_BLOCK = 400
/** A table or code block from this size on is a separate node. */
const OWN_BLOCK = 80
/**
 * A picture with text of at least this size is a separate node: citations then display that picture without other text.
 */
const OWN_PICTURE = 40
/** A node of this size ends where a new section starts. */
const ENOUGH = 100
/** Shorter text joins its neighbour: a caption its table, a last line the node before. */
const SCRAP = 40

interface Unit {
  index: number
  element: CompiledElement
  text: string
  start: number
  end: number
  words: number
  heading: boolean
  owner: string
  /** top section and page; no node crosses their boundary */
  group: string
}

interface Draft {
  units: Unit[]
  /** range in the document and repeated head, where the node is only a part of one long unit */
  part?: { start: number; end: number; header: string }
}

/**
 * Splits a document into nodes.
 *
 * Neighbours within one top section and one page are merged up to about 200 words; only a single long element is split,
 * with overlap. A node's text is `text.slice(startOffset, endOffset)`; in a part of a long table, its caption, its
 * header rows and the head of the group of rows precede that slice. Headings that are in the node's title are omitted
 * at its start.
 */
export function cutNodes(document: Assembled): CompiledNode[] {
  const units = listUnits(document)
  const total = units.reduce((sum, unit) => sum + unit.words, 0)
  const onePage = new Set(units.map((unit) => unit.element.pageNumber)).size <= 1
  // The time of a statement is its location, which one node for the entire transcript would lose.
  const isTimed = document.outline.some(({ tocSource }) => tocSource === 'time')
  const groups = total <= WHOLE && onePage && !isTimed ? [units] : splitGroups(units)
  const sections = new Map<string, CompiledOutlineNode>()
  indexSections(document.outline, sections)
  const nodes: CompiledNode[] = []
  for (const [index, group] of groups.entries()) {
    if (isTitleOnly(group, groups[index + 1])) continue
    for (const draft of packGroup(group)) {
      const node = finish(draft, nodes.length, document, sections)
      if (node !== undefined) nodes.push(node)
    }
  }
  return nodes
}

function listUnits(document: Assembled): Unit[] {
  const only = document.outline.length === 1 ? document.outline[0] : undefined
  const topDepth = only !== undefined && only.children.length > 0 ? 2 : 1
  const units: Unit[] = []
  for (const [index, element] of document.elements.entries()) {
    const { startOffset, endOffset } = element.metadata
    if (element.text === undefined || typeof startOffset !== 'number' || typeof endOffset !== 'number') continue
    const owner = document.owners[index] ?? ''
    units.push({
      index,
      element,
      text: element.text,
      start: startOffset,
      end: endOffset,
      words: Math.max(1, countWords(element.text)),
      heading: element.type === 'heading' || element.type === 'title',
      owner,
      group: `${element.pageNumber ?? 0}/${owner.split('.', topDepth).join('.')}`,
    })
  }
  return units
}

function splitGroups(units: Unit[]): Unit[][] {
  const groups: Unit[][] = []
  let last: Unit[] | undefined
  for (const unit of units) {
    if (last === undefined || (last[last.length - 1]?.group !== unit.group && !isPageScrap(last, unit))) {
      last = []
      groups.push(last)
    }
    last.push(unit)
  }
  return groups
}

/** Whether a group has only headings, which are in the titles of the following nodes. */
function isTitleOnly(group: Unit[], next: Unit[] | undefined): boolean {
  const inside = next?.[0]?.owner
  return inside !== undefined && group.every((unit) => unit.heading && isWithin(inside, unit.owner))
}

/**
 * Whether a group is a few words in large type: pages mark them as sections, but they stay with what follows on the
 * page.
 */
function isPageScrap(group: Unit[], next: Unit): boolean {
  const page = group[0]?.element.pageNumber
  return page !== undefined && page === next.element.pageNumber && wordsOf(group) < SCRAP
}

function packGroup(group: Unit[]): Draft[] {
  const words = wordsOf(group)
  if (words <= WHOLE) return group.length === 0 ? [] : [{ units: group }]
  const drafts: Draft[] = []
  let held: Unit[] = []
  const flush = (): void => {
    if (held.length > 0) drafts.push({ units: held })
    held = []
  }
  for (const unit of group) {
    const heldWords = wordsOf(held)
    if (isPicture(unit) && unit.words >= OWN_PICTURE && unit.words <= WHOLE) {
      dropTrailingHeadings(held, unit)
      flush()
      held.push(unit)
      flush()
    } else if (isBlock(unit) && unit.words >= OWN_BLOCK) {
      if (heldWords > SCRAP || heldWords + unit.words > LARGEST_BLOCK) {
        dropTrailingHeadings(held, unit)
        flush()
      }
      if (unit.words > LARGEST_BLOCK) {
        drafts.push(...cutBlock(unit))
      } else {
        held.push(unit)
        flush()
      }
    } else if (unit.words > WHOLE) {
      dropTrailingHeadings(held, unit)
      flush()
      drafts.push(...cutLong(unit))
    } else if (unit.heading && heldWords >= ENOUGH && !isAllHeadings(held)) {
      flush()
      held.push(unit)
    } else if (heldWords > 0 && heldWords + unit.words > (unit.words > SCRAP ? LARGEST : WHOLE)) {
      const carried = takeTrailingHeadings(held)
      flush()
      held = [...carried, unit]
    } else {
      held.push(unit)
      if (wordsOf(held) >= TARGET && !unit.heading) flush()
    }
  }
  mergeScrap(drafts, held)
  return drafts
}

/** Adds the end of a section: a few words go to the last node, more become a separate one. */
function mergeScrap(drafts: Draft[], held: Unit[]): void {
  if (held.length === 0) return
  const last = drafts[drafts.length - 1]
  const words = wordsOf(held)
  if (last !== undefined && last.part === undefined && words < SCRAP && wordsOf(last.units) + words <= WHOLE) {
    last.units.push(...held)
  } else {
    drafts.push({ units: held })
  }
}

/** Removes the headings right above a unit: they are in the title of its nodes. */
function dropTrailingHeadings(held: Unit[], unit: Unit): void {
  while (held.length > 0) {
    const last = held[held.length - 1]
    if (last === undefined || !last.heading || !isWithin(unit.owner, last.owner)) return
    held.pop()
  }
}

function takeTrailingHeadings(held: Unit[]): Unit[] {
  let from = held.length
  while (from > 0 && held[from - 1]?.heading === true) from--
  return from === 0 ? [] : held.splice(from)
}

function cutBlock(unit: Unit): Draft[] {
  const heads = unit.element.type === 'table' ? tableHeads(unit.text, unit.element.metadata) : undefined
  return splitLines(unit.text, LARGEST_BLOCK, heads?.end ?? 0).map((range, piece) => ({
    units: [unit],
    part:
      piece === 0
        ? { start: unit.start, end: unit.start + range.end, header: '' }
        : { start: unit.start + range.start, end: unit.start + range.end, header: heads?.above(range.start) ?? '' },
  }))
}

function cutLong(unit: Unit): Draft[] {
  const ranges =
    unit.element.type === 'list'
      ? splitLines(unit.text, LARGEST)
      : splitText(unit.text, { largest: LARGEST, overlap: OVERLAP })
  return ranges.map((range) => ({
    units: [unit],
    part: { start: unit.start + range.start, end: unit.start + range.end, header: '' },
  }))
}

function finish(
  draft: Draft,
  ordinal: number,
  document: Assembled,
  sections: Map<string, CompiledOutlineNode>,
): CompiledNode | undefined {
  const content = draft.units.filter((unit) => !unit.heading)
  const common = commonSection((content.length > 0 ? content : draft.units).map((unit) => unit.owner))
  const units = content.length > 0 && common !== undefined ? withoutPathHeadings(draft.units, common) : draft.units
  const first = units[0]
  const last = units[units.length - 1]
  if (first === undefined || last === undefined) return undefined
  const section = sections.get(common ?? first.owner.split('.', 1).join(''))
  const sectionPath = common === undefined ? [] : (section?.sectionPath ?? [])
  const startOffset = draft.part?.start ?? first.start
  const endOffset = draft.part?.end ?? last.end
  const node: CompiledNode = {
    ordinal,
    title: nodeTitle(document.title, sectionPath),
    text: `${draft.part?.header ?? ''}${document.text.slice(startOffset, endOffset)}`,
    sectionPath,
    outlineNodeId: section?.id ?? first.owner,
    sourceElementIds: document.elements.slice(first.index, last.index + 1).map((element) => element.id),
    startOffset,
    endOffset,
    kind: kindOf(content),
  }
  if (first.element.pageNumber !== undefined) node.pageNumber = first.element.pageNumber
  return node
}

function withoutPathHeadings(units: Unit[], common: string): Unit[] {
  const from = units.findIndex((unit) => !unit.heading || !isWithin(common, unit.owner))
  return from <= 0 ? units : units.slice(from)
}

/** Document title and heading path, joined with ` › `; a first heading that repeats the title is omitted. */
function nodeTitle(documentTitle: string, path: string[]): string {
  const [first, ...rest] = path
  const own = first !== undefined && sameTitle(first, documentTitle) ? rest : path
  return [documentTitle, ...own].join(' › ')
}

function kindOf(content: Unit[]): CompiledNode['kind'] {
  const weights = { text: 0, table: 0, code: 0, list: 0 }
  let total = 0
  for (const unit of content) {
    const { type } = unit.element
    weights[type === 'table' || type === 'code' || type === 'list' ? type : 'text'] += unit.words
    total += unit.words
  }
  if (total > 0 && weights.list === total) return 'list'
  if (weights.table > total / 2) return 'table'
  return weights.code > total / 2 ? 'code' : 'text'
}

function isBlock(unit: Unit): boolean {
  return unit.element.type === 'table' || unit.element.type === 'code'
}

function isPicture(unit: Unit): boolean {
  return unit.element.type === 'image'
}

function isAllHeadings(units: Unit[]): boolean {
  return units.every((unit) => unit.heading)
}

/** Whether section `inner` is `outer` or one of its descendants. */
function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`)
}

function wordsOf(units: Unit[]): number {
  let words = 0
  for (const unit of units) words += unit.words
  return words
}

function indexSections(roots: CompiledOutlineNode[], into: Map<string, CompiledOutlineNode>): void {
  for (const node of roots) {
    into.set(node.id, node)
    indexSections(node.children, into)
  }
}
