/**
 * The attributes of a tag; of two with one name the first counts. Valid until `open` returns: the next tag overwrites
 * them.
 */
export interface Attributes {
  readonly isEmpty: boolean
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

  get isEmpty(): boolean {
    return this.#count === 0
  }

  get(name: string): string | undefined {
    for (let index = 0; index < this.#count; index++) if (this.#names[index] === name) return this.#value(index)
    return undefined
  }

  has(name: string): boolean {
    for (let index = 0; index < this.#count; index++) if (this.#names[index] === name) return true
    return false
  }

  entries(): [name: string, value: string][] {
    const entries = new Map<string, string>()
    for (let index = 0; index < this.#count; index++) {
      const name = this.#names[index]
      if (name !== undefined && !entries.has(name)) entries.set(name, this.#value(index))
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
  setValue(start: number, end: number): void {
    if (this.#count === 0) return
    this.#starts[this.#count - 1] = start
    this.#ends[this.#count - 1] = end
  }

  #value(index: number): string {
    const value = this.#source.slice(this.#starts[index], this.#ends[index])
    return value.includes('&') ? this.#decode(value) : value
  }
}
