import { createHash } from 'node:crypto'
import type { Dialect } from '../dialect.js'

/** Texts that a server keeps prepared for a connection; lists of different lengths make texts without end. */
const MOST_NAMED = 1500

/** A statement as it is sent. */
export interface Named {
  text: string
  /** absent for a text that is prepared each time */
  name?: string
}

/** The statements of programs as PostgreSQL takes them, each parsed and planned once a connection. */
export class Prepared {
  readonly #dialect: Dialect
  readonly #known = new Map<string, Named>()

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  of(text: string): Named {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const translated = this.#dialect.translate(text)
    if (this.#known.size >= MOST_NAMED) return { text: translated }
    // by its text: connections of a pooler are shared with other gateways
    const name = createHash('sha256').update(translated).digest('base64url').slice(0, 22)
    const named = { text: translated, name }
    this.#known.set(text, named)
    return named
  }
}
