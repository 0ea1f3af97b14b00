import type { CompiledElement, CompiledOutlineNode } from '../store/compiled.js'

/** Deeper sections become siblings at this depth, so that trees and paths stay small whatever a file claims. */
const MAX_DEPTH = 8

interface OpenSection {
  node: CompiledOutlineNode
  headingLevel: number
}

/**
 * Builds the section tree of a document while its elements arrive in reading order.
 *
 * Elements before the first section belong to a separate node (`tocSource` `document`), which has the document's title
 * and an empty path.
 */
export class OutlineBuilder {
  readonly #title: string
  readonly #roots: CompiledOutlineNode[] = []
  #open: OpenSection[] = []
  #path: string[] = []
  #preamble: CompiledOutlineNode | undefined

  constructor(documentTitle: string) {
    this.#title = documentTitle
  }

  /**
   * Starts a section and closes those at its level or deeper. Heading levels may have gaps; the resulting levels have
   * none.
   */
  open(title: string, headingLevel: number, tocSource: string): void {
    while (this.#open.length > 0) {
      const last = this.#open[this.#open.length - 1]
      if (last !== undefined && last.headingLevel < headingLevel && this.#open.length < MAX_DEPTH) break
      this.#open.pop()
    }
    const parent = this.#open[this.#open.length - 1]?.node
    this.#path = [...(parent?.sectionPath ?? []), title]
    const siblings = parent?.children ?? this.#roots
    const node = createOutlineNode(
      parent === undefined ? `s${siblings.length + 1}` : `${parent.id}.${siblings.length + 1}`,
    )
    node.title = title
    node.level = this.#open.length + 1
    node.tocSource = tocSource
    node.sectionPath = this.#path
    siblings.push(node)
    this.#open.push({ node, headingLevel })
  }

  /** Titles of the open sections, outermost first. All elements of a section share the array. */
  path(): string[] {
    return this.#path
  }

  /** Adds an element to the innermost open section and extends all open sections. Returns the section's id. */
  add(element: CompiledElement): string {
    const innermost = this.#open[this.#open.length - 1]?.node ?? this.#ensurePreamble()
    innermost.sourceElementIds.push(element.id)
    if (this.#open.length === 0) extendNode(innermost, element)
    for (const section of this.#open) extendNode(section.node, element)
    return innermost.id
  }

  /** The finished tree without empty sections; a document without any content still has its one node. */
  roots(): CompiledOutlineNode[] {
    if (this.#roots.length === 0) this.#ensurePreamble()
    const roots = removeEmptyNodes(this.#roots)
    return roots.length === 0 ? this.#roots.slice(0, 1) : roots
  }

  #ensurePreamble(): CompiledOutlineNode {
    if (this.#preamble === undefined) {
      this.#preamble = createOutlineNode(`s${this.#roots.length + 1}`)
      this.#preamble.title = this.#title
      this.#preamble.tocSource = 'document'
      this.#roots.push(this.#preamble)
    }
    return this.#preamble
  }
}

function createOutlineNode(id: string): CompiledOutlineNode {
  return { id, title: '', level: 1, tocSource: 'heading', sectionPath: [], children: [], sourceElementIds: [] }
}

function removeEmptyNodes(nodes: CompiledOutlineNode[]): CompiledOutlineNode[] {
  return nodes.filter((node) => {
    node.children = removeEmptyNodes(node.children)
    return node.children.length > 0 || node.sourceElementIds.length > 0
  })
}

function extendNode(node: CompiledOutlineNode, element: CompiledElement): void {
  const { startOffset, endOffset } = element.metadata
  if (typeof startOffset === 'number' && typeof endOffset === 'number') {
    node.startOffset ??= startOffset
    node.endOffset = endOffset
  }
  if (element.pageNumber !== undefined) {
    node.startPage ??= element.pageNumber
    node.endPage = element.pageNumber
  }
}

/**
 * The innermost section that contains all the given ones: `s1.2.1` and `s1.2.3` give `s1.2`, `s1` and `s2` give
 * `undefined`.
 *
 * @param ids outline node ids, at least one
 */
export function findCommonSection(ids: readonly string[]): string | undefined {
  let common = ids[0]?.split('.') ?? []
  for (const id of ids) {
    const steps = id.split('.')
    let shared = 0
    while (shared < common.length && common[shared] === steps[shared]) shared++
    common = common.slice(0, shared)
  }
  return common.length === 0 ? undefined : common.join('.')
}
