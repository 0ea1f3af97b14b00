import type { CompiledElement, CompiledNode, CompiledOutlineNode } from '../store/compiled.js'
import { type AssembledDocument, isSameTitle } from './elements.js'
import { findCommonSection } from './outline.js'
import { splitLines, splitText } from './split.js'
import { createTableHeads } from './tables/passages.js'
import { countWords } from './words.js'

// Sizes in words. Nodes of about 200 words with 40 words of overlap and the heading path in every node retrieved best
// on the development sets; see docs on retrieval quality.
const TARGET_WORDS = 200
const OVERLAP_WORDS = 40
const MAX_WORDS = 240
/** Maximum size that is never split: a short document, a short section, one paragraph. */
const MAX_UNSPLIT_WORDS = 280
/** Tables and code lose their meaning when split, so they may be longer. */
const MAX_BLOCK_WORDS = 400
/** A table or code block from this size on is a separate node. */
const MIN_SEPARATE_BLOCK_WORDS = 80
/**
 * A picture with text of at least this size is a separate node: citations then display that picture without other text.
 */
const MIN_SEPARATE_PICTURE_WORDS = 40
/** A node of this size ends where a new section starts. */
const MIN_WORDS_BEFORE_SECTION = 100
/** Shorter text joins its neighbour: a caption its table, a last line the node before. */
const MIN_WORDS = 40

interface NodeUnit {
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

interface NodeDraft {
  units: NodeUnit[]
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
export function splitIntoNodes(document: AssembledDocument): CompiledNode[] {
  const units = listUnits(document)
  const total = units.reduce((sum, unit) => sum + unit.words, 0)
  const onePage = new Set(units.map((unit) => unit.element.pageNumber)).size <= 1
  // The time of a statement is its location, which one node for the entire transcript would lose.
  const isTimed = document.outline.some(({ tocSource }) => tocSource === 'time')
  const groups = total <= MAX_UNSPLIT_WORDS && onePage && !isTimed ? [units] : splitGroups(units)
  const sections = new Map<string, CompiledOutlineNode>()
  indexSections(document.outline, sections)
  const nodes: CompiledNode[] = []
  for (const [index, group] of groups.entries()) {
    if (isTitleOnly(group, groups[index + 1])) continue
    for (const draft of packGroup(group)) {
      const node = makeNode(draft, nodes.length, document, sections)
      if (node !== undefined) nodes.push(node)
    }
  }
  return nodes
}

function listUnits(document: AssembledDocument): NodeUnit[] {
  const only = document.outline.length === 1 ? document.outline[0] : undefined
  const topDepth = only !== undefined && only.children.length > 0 ? 2 : 1
  const units: NodeUnit[] = []
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

function splitGroups(units: NodeUnit[]): NodeUnit[][] {
  const groups: NodeUnit[][] = []
  let last: NodeUnit[] | undefined
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
function isTitleOnly(group: NodeUnit[], next: NodeUnit[] | undefined): boolean {
  const inside = next?.[0]?.owner
  return inside !== undefined && group.every((unit) => unit.heading && isWithin(inside, unit.owner))
}

/**
 * Whether a group is a few words in large type: pages mark them as sections, but they stay with what follows on the
 * page.
 */
function isPageScrap(group: NodeUnit[], next: NodeUnit): boolean {
  const page = group[0]?.element.pageNumber
  return page !== undefined && page === next.element.pageNumber && sumWords(group) < MIN_WORDS
}

function packGroup(group: NodeUnit[]): NodeDraft[] {
  const words = sumWords(group)
  if (words <= MAX_UNSPLIT_WORDS) return group.length === 0 ? [] : [{ units: group }]
  const drafts: NodeDraft[] = []
  let pending: NodeUnit[] = []
  const flush = (): void => {
    if (pending.length > 0) drafts.push({ units: pending })
    pending = []
  }
  for (const unit of group) {
    const pendingWords = sumWords(pending)
    if (isPicture(unit) && unit.words >= MIN_SEPARATE_PICTURE_WORDS && unit.words <= MAX_UNSPLIT_WORDS) {
      dropTrailingHeadings(pending, unit)
      flush()
      pending.push(unit)
      flush()
    } else if (isBlock(unit) && unit.words >= MIN_SEPARATE_BLOCK_WORDS) {
      if (pendingWords > MIN_WORDS || pendingWords + unit.words > MAX_BLOCK_WORDS) {
        dropTrailingHeadings(pending, unit)
        flush()
      }
      if (unit.words > MAX_BLOCK_WORDS) {
        drafts.push(...splitBlock(unit))
      } else {
        pending.push(unit)
        flush()
      }
    } else if (unit.words > MAX_UNSPLIT_WORDS) {
      dropTrailingHeadings(pending, unit)
      flush()
      drafts.push(...splitLongUnit(unit))
    } else if (unit.heading && pendingWords >= MIN_WORDS_BEFORE_SECTION && !isAllHeadings(pending)) {
      flush()
      pending.push(unit)
    } else if (
      pendingWords > 0 &&
      pendingWords + unit.words > (unit.words > MIN_WORDS ? MAX_WORDS : MAX_UNSPLIT_WORDS)
    ) {
      const carried = takeTrailingHeadings(pending)
      flush()
      pending = [...carried, unit]
    } else {
      pending.push(unit)
      if (sumWords(pending) >= TARGET_WORDS && !unit.heading) flush()
    }
  }
  addRemainder(drafts, pending)
  return drafts
}

/** Adds the end of a section: a few words go to the last node, more become a separate one. */
function addRemainder(drafts: NodeDraft[], pending: NodeUnit[]): void {
  if (pending.length === 0) return
  const last = drafts[drafts.length - 1]
  const words = sumWords(pending)
  if (
    last !== undefined &&
    last.part === undefined &&
    words < MIN_WORDS &&
    sumWords(last.units) + words <= MAX_UNSPLIT_WORDS
  ) {
    last.units.push(...pending)
  } else {
    drafts.push({ units: pending })
  }
}

/** Removes the headings right above a unit: they are in the title of its nodes. */
function dropTrailingHeadings(pending: NodeUnit[], unit: NodeUnit): void {
  while (pending.length > 0) {
    const last = pending[pending.length - 1]
    if (last === undefined || !last.heading || !isWithin(unit.owner, last.owner)) return
    pending.pop()
  }
}

function takeTrailingHeadings(pending: NodeUnit[]): NodeUnit[] {
  let firstIndex = pending.length
  while (firstIndex > 0 && pending[firstIndex - 1]?.heading === true) firstIndex--
  return firstIndex === 0 ? [] : pending.splice(firstIndex)
}

function splitBlock(unit: NodeUnit): NodeDraft[] {
  const heads = unit.element.type === 'table' ? createTableHeads(unit.text, unit.element.metadata) : undefined
  return splitLines(unit.text, MAX_BLOCK_WORDS, heads?.end ?? 0).map((range, index) => ({
    units: [unit],
    part:
      index === 0
        ? { start: unit.start, end: unit.start + range.end, header: '' }
        : { start: unit.start + range.start, end: unit.start + range.end, header: heads?.above(range.start) ?? '' },
  }))
}

function splitLongUnit(unit: NodeUnit): NodeDraft[] {
  const ranges =
    unit.element.type === 'list'
      ? splitLines(unit.text, MAX_WORDS)
      : splitText(unit.text, { maxWords: MAX_WORDS, overlapWords: OVERLAP_WORDS })
  return ranges.map((range) => ({
    units: [unit],
    part: { start: unit.start + range.start, end: unit.start + range.end, header: '' },
  }))
}

function makeNode(
  draft: NodeDraft,
  ordinal: number,
  document: AssembledDocument,
  sections: Map<string, CompiledOutlineNode>,
): CompiledNode | undefined {
  const content = draft.units.filter((unit) => !unit.heading)
  const common = findCommonSection((content.length > 0 ? content : draft.units).map((unit) => unit.owner))
  const units = content.length > 0 && common !== undefined ? removePathHeadings(draft.units, common) : draft.units
  const first = units[0]
  const last = units[units.length - 1]
  if (first === undefined || last === undefined) return undefined
  const section = sections.get(common ?? first.owner.split('.', 1).join(''))
  const sectionPath = common === undefined ? [] : (section?.sectionPath ?? [])
  const startOffset = draft.part?.start ?? first.start
  const endOffset = draft.part?.end ?? last.end
  const node: CompiledNode = {
    ordinal,
    title: buildNodeTitle(document.title, sectionPath),
    text: `${draft.part?.header ?? ''}${document.text.slice(startOffset, endOffset)}`,
    sectionPath,
    outlineNodeId: section?.id ?? first.owner,
    sourceElementIds: document.elements.slice(first.index, last.index + 1).map((element) => element.id),
    startOffset,
    endOffset,
    kind: computeKind(content),
  }
  if (first.element.pageNumber !== undefined) node.pageNumber = first.element.pageNumber
  return node
}

function removePathHeadings(units: NodeUnit[], common: string): NodeUnit[] {
  const firstIndex = units.findIndex((unit) => !unit.heading || !isWithin(common, unit.owner))
  return firstIndex <= 0 ? units : units.slice(firstIndex)
}

/** Document title and heading path, joined with ` › `; a first heading that repeats the title is omitted. */
function buildNodeTitle(documentTitle: string, path: string[]): string {
  const [first, ...rest] = path
  const own = first !== undefined && isSameTitle(first, documentTitle) ? rest : path
  return [documentTitle, ...own].join(' › ')
}

function computeKind(content: NodeUnit[]): CompiledNode['kind'] {
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

function isBlock(unit: NodeUnit): boolean {
  return unit.element.type === 'table' || unit.element.type === 'code'
}

function isPicture(unit: NodeUnit): boolean {
  return unit.element.type === 'image'
}

function isAllHeadings(units: NodeUnit[]): boolean {
  return units.every((unit) => unit.heading)
}

/** Whether section `inner` is `outer` or one of its descendants. */
function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`)
}

function sumWords(units: NodeUnit[]): number {
  let words = 0
  for (const unit of units) words += unit.words
  return words
}

function indexSections(roots: CompiledOutlineNode[], byId: Map<string, CompiledOutlineNode>): void {
  for (const node of roots) {
    byId.set(node.id, node)
    indexSections(node.children, byId)
  }
}
