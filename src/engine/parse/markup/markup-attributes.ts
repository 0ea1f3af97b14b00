/**
 * The attributes of a tag; of two with one name the first counts. Valid until `open` returns: the next tag overwrites
 * them.
 */
export interface Attributes {
  get(name: string): string | undefined
  has(name: string): boolean
  entries(): [name: string, value: string][]
}

/** Offsets of the attributes of a tag in a text. Values are cut out and decoded on demand: most are never read. */
export class TagAttributes implements Attributes {
  readonly #source: string
  readonly #decode: (value: string) => string
  readonly #names: string[] = []
  readonly #starts: number[] = []
  readonly #ends: number[] = []
  #count = 0

  constructor(source: string, decode: (value: string) => string) {
    this.#source = source
    this.#decode = decode
  }

  get(name: string): string | undefined {
    for (let at = 0; at < this.#count; at++) if (this.#names[at] === name) return this.#value(at)
    return undefined
  }

  has(name: string): boolean {
    for (let at = 0; at < this.#count; at++) if (this.#names[at] === name) return true
    return false
  }

  entries(): [name: string, value: string][] {
    const entries = new Map<string, string>()
    for (let at = 0; at < this.#count; at++) {
      const name = this.#names[at]
      if (name !== undefined && !entries.has(name)) entries.set(name, this.#value(at))
    }
    return [...entries]
  }

  /** Begins a tag. */
  clear(): void {
    this.#count = 0
  }

  /** Adds an attribute without a value. */
  add(name: string): void {
    this.#names[this.#count] = name
    this.#starts[this.#count] = 0
    this.#ends[this.#count] = 0
    this.#count++
  }

  /** Sets the offsets of the value of the last attribute. */
  valued(start: number, end: number): void {
    if (this.#count === 0) return
    this.#starts[this.#count - 1] = start
    this.#ends[this.#count - 1] = end
  }

  #value(at: number): string {
    const value = this.#source.slice(this.#starts[at], this.#ends[at])
    return value.includes('&') ? this.#decode(value) : value
  }
}
