import { type Attributes, getLocalName, type MarkupHandler } from '../markup/markup-events.js'

/** An element of a formula. */
export interface MathNode {
  /** local name */
  name: string
  attributes: ReadonlyMap<string, string>
  children: MathNode[]
  text: string
}

/** Formulas nest some ten deep; deeper elements are read as if they had this depth. */
const MAX_DEPTH = 60
/** Maximum number of elements of one formula; text beyond them is kept without structure. */
const MAX_NODES = 20_000

/** Collects the elements of one formula, of Office Math Markup or MathML, as a tree of limited size. */
export class MathTree implements MarkupHandler {
  readonly root: MathNode
  readonly #open: MathNode[]
  /** Number of open elements, those without a node included. */
  #depth = 1
  #count = 1

  constructor(name: string) {
    this.root = { name: getLocalName(name), attributes: new Map(), children: [], text: '' }
    this.#open = [this.root]
  }

  /** Whether all elements are closed, the root included. */
  get isClosed(): boolean {
    return this.#depth === 0
  }

  open(name: string, attributes: Attributes): void {
    this.#depth++
    if (this.#depth > MAX_DEPTH || this.#count >= MAX_NODES) return
    this.#count++
    const localAttributes = new Map(attributes.entries().map(([key, value]) => [getLocalName(key), value]))
    const node = { name: getLocalName(name), attributes: localAttributes, children: [], text: '' }
    this.#open.at(-1)?.children.push(node)
    this.#open.push(node)
  }

  close(_name: string): void {
    if (this.#open.length === this.#depth) this.#open.pop()
    this.#depth--
  }

  text(text: string): void {
    const node = this.#open.at(-1)
    if (node !== undefined) node.text += text
  }
}

/** The first child with a name. */
export function findChild(node: MathNode, name: string): MathNode | undefined {
  return node.children.find((child) => child.name === name)
}
