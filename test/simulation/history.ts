/** Logical time: what begins and what ends each has a moment of its own, in the order in which this process saw it. */
export class Moments {
  #last = 0

  next(): number {
    this.#last += 1
    return this.#last
  }
}

/** The span in which something happened at one unknown moment. */
export interface Span {
  from: number
  to: number
}

export interface Write<T> extends Span {
  value: T
  /** false: it may or may not have taken place */
  certain: boolean
}

/**
 * One thing that is written as a whole, and what a reader may see of it while several clients write.
 *
 * A value may be seen when its write began before the read ended, unless another write that certainly took place began
 * after it had ended, and ended before the read began. That holds in every linearisation, so nothing that is allowed is
 * called wrong.
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

  /** Nobody knows whether it took place; after `to` it does not any more. */
  lost(write: Write<T>, to: number): void {
    write.to = Math.min(write.to, to)
  }

  /** What a read in this span may find. */
  possible({ from, to }: Span): T[] {
    const writes = this.#writes.filter((write) => write.from < to)
    const hidden = (write: Write<T>) =>
      writes.some((later) => later.certain && write.to < later.from && later.to < from)
    return [...new Set(writes.filter((write) => !hidden(write)).map(({ value }) => value))]
  }

  allows(value: T, span: Span): boolean {
    return this.possible(span).includes(value)
  }

  /** A read found this: the only write that can have made it took place, before the read ended. */
  seen(value: T, { to }: Span): void {
    const made = this.#writes.filter((write) => write.value === value)
    const [write] = made
    if (made.length === 1 && write !== undefined) this.done(write, to)
  }

  /** What a read of its only writer found: whatever went on before has come to an end. */
  settle(value: T, { from, to }: Span): void {
    this.#writes = [{ value, from, to, certain: true }]
  }
}
