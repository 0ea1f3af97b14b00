import type { PoolClient, QueryResult } from 'pg'
import { tenantScope } from '../../base/tenant-scope.js'
import type { Asked, Bindable } from '../program.js'
import { storable } from '../storable.js'
import type { Named, Prepared } from './prepared.js'
import { DEPLOYMENT_SETTING, TENANT_SETTING } from './schema/isolation.js'

const FOR_TENANT = `SELECT set_config('${TENANT_SETTING}', ?, true)`
const FOR_DEPLOYMENT = `SELECT set_config('${DEPLOYMENT_SETTING}', 'on', true)`

/** lists of values that are sent without waiting */
const LISTS_AT_ONCE = 500

/**
 * A connection for the duration of one program. Statements that are sent together are executed in order, in one round
 * trip.
 */
export class Session {
  readonly #client: PoolClient
  readonly #prepared: Prepared
  readonly #counted: () => void
  #isOpen = false
  /** error of a statement that was sent without waiting; it is the cause of later failures */
  #failed: unknown

  /** @param onStatement called for each statement */
  constructor(client: PoolClient, prepared: Prepared, counted: () => void) {
    this.#client = client
    this.#prepared = prepared
    this.#counted = counted
  }

  /**
   * Begins a transaction together with the next statement, whose result shows whether that succeeded. The transaction
   * sees the rows of the current tenant scope.
   */
  begin(text: string): void {
    this.#isOpen = true
    this.ahead(text)
    const scope = tenantScope()
    if (scope === 'deployment') this.ahead(this.#prepared.of(FOR_DEPLOYMENT))
    else if (scope !== undefined) this.ahead(this.#prepared.of(FOR_TENANT), [scope.tenant])
  }

  /**
   * Sends a statement without waiting for its result: if it fails, the next statement of its transaction fails with its
   * error.
   */
  ahead(statement: string | Named, values: readonly unknown[] = []): void {
    const named = typeof statement === 'string' ? { text: statement } : statement
    this.#client.query({ ...named, values: [...values] }).catch((error: unknown) => {
      this.#failed ??= error
    })
  }

  /** Runs a statement of a program. @returns the same as the driver of SQLite */
  async run(asked: Asked): Promise<unknown> {
    if (!('lists' in asked)) {
      this.#counted()
      return await this.#one(asked, asked.values)
    }
    const all: unknown[] = []
    for (let from = 0; from < asked.lists.length; from += LISTS_AT_ONCE) {
      this.#counted()
      const sent = asked.lists.slice(from, from + LISTS_AT_ONCE).map((values) => this.#one(asked, values))
      // the first failure caused the others
      for (const outcome of await Promise.allSettled(sent)) {
        if (outcome.status === 'rejected') throw outcome.reason
        all.push(outcome.value)
      }
    }
    return all
  }

  /** Sends a statement. @returns its rows, or the count of changed rows */
  async #one({ verb, sql, ...rest }: Asked, values: readonly Bindable[]): Promise<unknown> {
    const isLists = 'cells' in rest && rest.cells === true
    const { rows, rowCount } = await this.#client
      .query({ ...this.#prepared.of(sql), values: [...storable(values)], ...(isLists ? { rowMode: 'array' } : {}) })
      .catch((error: unknown) => {
        throw this.#failed ?? error
      })
    if (verb === 'get') return rows[0]
    if (verb === 'all') return rows
    return 'lists' in rest ? (rowCount ?? 0) : { changes: rowCount ?? 0 }
  }

  /** @returns whether the transaction was committed; one with a failed statement is rolled back instead */
  async commit(): Promise<boolean> {
    if (!this.#isOpen) return true
    this.#isOpen = false
    const { command }: QueryResult = await this.#client.query('COMMIT')
    return command === 'COMMIT'
  }

  /** Rolls back a transaction without changes, and releases the connection afterwards. */
  leave(): void {
    if (!this.#isOpen) {
      this.#client.release()
      return
    }
    this.#client.query('ROLLBACK').then(
      () => this.#client.release(),
      () => this.drop(),
    )
  }

  /** Releases a connection without an open transaction. */
  release(): void {
    this.#client.release()
  }

  /** Closes the connection. */
  drop(): void {
    this.#client.release(true)
  }
}
