/** Logical time: each start and each end has a separate moment, in the order in which this process saw them. */
export class Moments {
  #last = 0

  next(): number {
    this.#last += 1
    return this.#last
  }
}

/** The span that contains an event at an unknown moment. */
export interface Span {
  from: number
  to: number
}

export interface Write<T> extends Span {
  value: T
  /** false: it may or may not have happened */
  certain: boolean
}

/**
 * A value that is written as a unit, and what a reader may see while several clients write.
 *
 * A value may be seen when its write began before the read ended, unless another write that certainly happened began
 * after it had ended, and ended before the read began. That holds in every linearisation, so no allowed result counts
 * as wrong.
 */
export class Register<T> {
  #writes: Write<T>[]

  constructor(initial: T) {
    this.#writes = [{ value: initial, from: 0, to: 0, certain: true }]
  }

  /** A write was sent: from now on it may be seen. */
  begin(value: T, from: number): Write<T> {
    const write = { value, from, to: Number.POSITIVE_INFINITY, certain: false }
    this.#writes.push(write)
    return write
  }

  /** It was acknowledged. */
  done(write: Write<T>, to: number): void {
    write.to = Math.min(write.to, to)
    write.certain = true
  }

  /** It was refused and left nothing. */
  refused(write: Write<T>): void {
    this.#writes = this.#writes.filter((one) => one !== write)
  }

  /** Its outcome is unknown; after `to` it can no longer happen. */
  lost(write: Write<T>, to: number): void {
    write.to = Math.min(write.to, to)
  }

  /** The values that a read in this span may return. */
  possible({ from, to }: Span): T[] {
    const writes = this.#writes.filter((write) => write.from < to)
    const hidden = (write: Write<T>) =>
      writes.some((later) => later.certain && write.to < later.from && later.to < from)
    return [...new Set(writes.filter((write) => !hidden(write)).map(({ value }) => value))]
  }

  allows(value: T, span: Span): boolean {
    return this.possible(span).includes(value)
  }

  /** A read returned this value: the only possible write happened before the read ended. */
  seen(value: T, { to }: Span): void {
    const made = this.#writes.filter((write) => write.value === value)
    const [write] = made
    if (made.length === 1 && write !== undefined) this.done(write, to)
  }

  /** A read by the only writer: all earlier writes have ended. */
  settle(value: T, { from, to }: Span): void {
    this.#writes = [{ value, from, to, certain: true }]
  }
}
