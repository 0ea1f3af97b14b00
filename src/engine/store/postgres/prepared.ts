import { createHash } from 'node:crypto'
import type { Dialect } from '../dialect.js'

/**
 * Maximum number of statements that a server keeps prepared for a connection. A statement with a list of values has
 * another text for each length of the list, so their number has no bound.
 */
const MAX_NAMED_STATEMENTS = 1500

/** A statement as it is sent to the server. */
export interface ServerStatement {
  text: string
  /** absent for a statement that the server parses and plans at each execution */
  name?: string
}

/** The engine's SQL statements, translated for PostgreSQL; each is parsed and planned once per connection. */
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
    // derived from the text: a connection pooler shares its connections among gateways, whose names must agree
    const name = createHash('sha256').update(translated).digest('base64url').slice(0, 22)
    const named = { text: translated, name }
    this.#known.set(text, named)
    return named
  }
}
