import { createHash } from 'node:crypto'
import type { Dialect } from '../dialect.js'

/**
 * Maximum number of texts that a server keeps prepared for a connection; lists of different lengths create texts
 * without end.
 */
const MAX_NAMED_STATEMENTS = 1500

/** A statement as it is sent to the server. */
export interface ServerStatement {
  text: string
  /** absent for a text that is prepared each time */
  name?: string
}

/** The statements of programs, translated for PostgreSQL; each is parsed and planned once per connection. */
export class PreparedStatements {
  readonly #dialect: Dialect
  readonly #known = new Map<string, ServerStatement>()

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  get(text: string): ServerStatement {
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const translated = this.#dialect.translate(text)
    if (this.#known.size >= MAX_NAMED_STATEMENTS) return { text: translated }
    // derived from the text: a pooler shares connections with other gateways
    const name = createHash('sha256').update(translated).digest('base64url').slice(0, 22)
    const named = { text: translated, name }
    this.#known.set(text, named)
    return named
  }
}
