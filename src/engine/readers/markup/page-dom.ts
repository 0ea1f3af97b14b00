/** Nodes of a page with the part of the DOM that Readability uses. */

export type PageNode = PageText | PageElement

abstract class LinkedNode {
  parentNode: PageElement | null = null
  previousSibling: PageNode | null = null
  nextSibling: PageNode | null = null

  get nextElementSibling(): PageElement | null {
    let node = this.nextSibling
    while (node !== null && !(node instanceof PageElement)) node = node.nextSibling
    return node
  }

  get previousElementSibling(): PageElement | null {
    let node = this.previousSibling
    while (node !== null && !(node instanceof PageElement)) node = node.previousSibling
    return node
  }

  remove(): void {
    const parent = this.parentNode
    if (parent === null) return
    if (this.previousSibling === null) parent.firstChild = this.nextSibling
    else this.previousSibling.nextSibling = this.nextSibling
    if (this.nextSibling === null) parent.lastChild = this.previousSibling
    else this.nextSibling.previousSibling = this.previousSibling
    this.parentNode = null
    this.previousSibling = null
    this.nextSibling = null
  }
}

export class PageText extends LinkedNode {
  readonly nodeType = 3
  readonly nodeName = '#text'
  readonly childNodes: readonly PageNode[] = []
  textContent: string
  /** number of the text in the page */
  readonly index: number

  constructor(text: string, index: number) {
    super()
    this.textContent = text
    this.index = index
  }
}

interface PageAttribute {
  name: string
  value: string
  cloneNode(): PageAttribute
}

export class PageElement extends LinkedNode {
  readonly nodeType = 1
  localName: string
  tagName: string
  firstChild: PageNode | null = null
  lastChild: PageNode | null = null
  #snapshot: PageElement | undefined
  readonly #attributes: Map<string, string>
  readonly ownerDocument: PageDocument
  /** number of the picture in the page */
  readonly index: number

  constructor(ownerDocument: PageDocument, name: string, attributes: ReadonlyMap<string, string>, index = -1) {
    super()
    this.ownerDocument = ownerDocument
    this.localName = name
    this.tagName = name.toUpperCase()
    this.#attributes = new Map(attributes)
    this.index = index
  }

  get nodeName(): string {
    return this.tagName
  }

  get childNodes(): PageNode[] {
    const nodes: PageNode[] = []
    for (let node = this.firstChild; node !== null; node = node.nextSibling) nodes.push(node)
    return nodes
  }

  get children(): PageElement[] {
    const elements: PageElement[] = []
    for (let node = this.firstElementChild; node !== null; node = node.nextElementSibling) elements.push(node)
    return elements
  }

  get firstElementChild(): PageElement | null {
    return this.firstChild instanceof PageElement ? this.firstChild : (this.firstChild?.nextElementSibling ?? null)
  }

  get attributes(): PageAttribute[] {
    return [...this.#attributes].map(([name, value]) => {
      const attribute = { name, value, cloneNode: () => attribute }
      return attribute
    })
  }

  get className(): string {
    return this.#attributes.get('class') ?? ''
  }

  set className(value: string) {
    this.#attributes.set('class', value)
  }

  get id(): string {
    return this.#attributes.get('id') ?? ''
  }

  set id(value: string) {
    this.#attributes.set('id', value)
  }

  get src(): string {
    return this.#attributes.get('src') ?? ''
  }

  get style(): { display: string; visibility: string } | undefined {
    const css = this.#attributes.get('style')
    if (css === undefined) return undefined
    const find = (pattern: RegExp) => pattern.exec(css)?.[1]?.toLowerCase() ?? ''
    return {
      display: find(/(?:^|;)\s*display\s*:\s*([a-z-]+)/i),
      visibility: find(/(?:^|;)\s*visibility\s*:\s*([a-z-]+)/i),
    }
  }

  get textContent(): string {
    let text = ''
    this.visit((node) => {
      if (node instanceof PageText) text += node.textContent
    })
    return text
  }

  /** Readability reads the body to restore it: a copy takes the place of the markup. */
  get innerHTML(): string {
    if (this === this.ownerDocument.body) this.#snapshot = this.#copy()
    return ''
  }

  set innerHTML(_: string) {
    while (this.firstChild !== null) this.firstChild.remove()
    const copy = this.#snapshot === undefined ? undefined : this.#snapshot.#copy()
    for (const node of copy?.childNodes ?? []) this.appendChild(node)
  }

  getAttribute(name: string): string | null {
    return this.#attributes.get(name) ?? null
  }

  hasAttribute(name: string): boolean {
    return this.#attributes.has(name)
  }

  setAttribute(name: string, value: string): void {
    this.#attributes.set(name, value)
  }

  setAttributeNode({ name, value }: { name: string; value: string }): void {
    this.#attributes.set(name, value)
  }

  removeAttribute(name: string): void {
    this.#attributes.delete(name)
  }

  appendChild<Node extends PageNode>(node: Node): Node {
    node.remove()
    node.parentNode = this
    node.previousSibling = this.lastChild
    if (this.lastChild === null) this.firstChild = node
    else this.lastChild.nextSibling = node
    this.lastChild = node
    return node
  }

  replaceChild<Node extends PageNode>(node: PageNode, old: Node): Node {
    node.remove()
    const { previousSibling, nextSibling } = old
    old.remove()
    node.parentNode = this
    node.previousSibling = previousSibling
    node.nextSibling = nextSibling
    if (previousSibling === null) this.firstChild = node
    else previousSibling.nextSibling = node
    if (nextSibling === null) this.lastChild = node
    else nextSibling.previousSibling = node
    return old
  }

  removeChild<Node extends PageNode>(node: Node): Node {
    node.remove()
    return node
  }

  getElementsByTagName(name: string): PageElement[] {
    const localName = name.toLowerCase()
    const elements: PageElement[] = []
    this.visit((node) => {
      if (node instanceof PageElement && (name === '*' || node.localName === localName)) elements.push(node)
    })
    return elements
  }

  /** Recursive: elements nest at most 200 deep. */
  #copy(): PageElement {
    const copy = new PageElement(this.ownerDocument, this.localName, this.#attributes, this.index)
    for (let node = this.firstChild; node !== null; node = node.nextSibling)
      copy.appendChild(node instanceof PageElement ? node.#copy() : new PageText(node.textContent, node.index))
    return copy
  }

  /** Visits the nodes inside of the element in document order. */
  visit(visitor: (node: PageNode) => void): void {
    let node = this.firstChild
    while (node !== null) {
      visitor(node)
      if (node instanceof PageElement && node.firstChild !== null) node = node.firstChild
      else {
        let last: PageNode = node
        while (last.nextSibling === null && last.parentNode !== null && last.parentNode !== this) last = last.parentNode
        node = last.nextSibling
      }
    }
  }
}

const NO_ATTRIBUTES: ReadonlyMap<string, string> = new Map()

export class PageDocument {
  /** Readability changes the names of elements in place. */
  readonly firstChild = { __JSDOMParser__: true }
  readonly baseURI = ''
  readonly documentURI = ''
  readonly documentElement = this.createElement('html')
  readonly head = this.documentElement.appendChild(this.createElement('head'))
  readonly body = this.documentElement.appendChild(this.createElement('body'))

  get title(): string {
    return this.head.getElementsByTagName('title')[0]?.textContent.trim() ?? ''
  }

  createElement(name: string): PageElement {
    return new PageElement(this, name.toLowerCase(), NO_ATTRIBUTES)
  }

  createTextNode(text: string): PageText {
    return new PageText(text, -1)
  }

  getElementsByTagName(name: string): PageElement[] {
    return this.documentElement.getElementsByTagName(name)
  }
}
