export const VOID_ELEMENTS = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '))
/** Elements that implicitly close an open one of the same kind, and the containers that stop this. */
const IMPLIED_ENDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    p: 'div td th li table ul ol section article',
    li: 'ul ol table',
    tr: 'table',
    td: 'table',
    th: 'table',
  }).map(([name, containers]) => [name, new Set(containers.split(' '))] as const),
)
/** Elements nest some tens deep; deeper ones are part of the one at this depth. */
const MAX_DEPTH = 200
/** Number of innermost elements that a tag can close. */
const MAX_LOOKBACK = 40

/** The open elements of a page, outermost first. */
export class OpenElements<Element extends { name: string }> {
  readonly #open: Element[] = []

  get length(): number {
    return this.#open.length
  }

  get isFull(): boolean {
    return this.#open.length >= MAX_DEPTH
  }

  get top(): Element | undefined {
    return this.#open[this.#open.length - 1]
  }

  at(index: number): Element | undefined {
    return this.#open[index]
  }

  push(element: Element): void {
    this.#open.push(element)
  }

  /** Closes the innermost element of a name with everything in it. */
  close(name: string): void {
    for (let index = this.#open.length - 1; index >= this.#getLookbackStart(); index--) {
      if (this.#open[index]?.name !== name) continue
      this.#closeFrom(index)
      return
    }
  }

  /** Closes the element that ends where one of this name starts. */
  closeImplied(name: string): void {
    const containers = IMPLIED_ENDS.get(name)
    if (containers === undefined) return
    for (let index = this.#open.length - 1; index >= this.#getLookbackStart(); index--) {
      const open = this.#open[index]?.name ?? ''
      if (open === name) this.#closeFrom(index)
      if (open === name || containers.has(open)) return
    }
  }

  #closeFrom(index: number): void {
    while (this.#open.length > index) this.#open.pop()
  }

  #getLookbackStart(): number {
    return Math.max(0, this.#open.length - MAX_LOOKBACK)
  }
}
