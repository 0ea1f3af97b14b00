import { inspect } from 'node:util'

const MASK = '[secret]'

/** Wraps a credential: printing, logging or serializing an object that contains it shows `[secret]`. */
export class Secret {
  readonly #value: string

  constructor(value: string) {
    this.#value = value
  }

  /** Returns the credential; call it only where the credential is put on the wire. */
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
