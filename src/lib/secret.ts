import { inspect } from 'node:util'

const MASK = '[secret]'

/** Holds a credential so that printing, logging or serialising whatever contains it shows `[secret]`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** The credential itself: only for the line that puts it on the wire. */
  reveal(): string {
    return this.#value
  }

  toString(): string {
    return MASK
  }

  toJSON(): string {
    return MASK
  }

  [inspect.custom](): string {
    return MASK
  }
}
