import type { PoolClient, QueryResult } from 'pg'
import { getTenantScope } from '../../base/tenant-scope.js'
import type { Bindable, DatabaseStatement } from '../program.js'
import { toStorable } from '../storable.js'
import type { PreparedStatements, ServerStatement } from './prepared.js'
import { DEPLOYMENT_SETTING, TENANT_SETTING } from './schema/isolation.js'

const SET_TENANT = `SELECT set_config('${TENANT_SETTING}', ?, true)`
const SET_DEPLOYMENT = `SELECT set_config('${DEPLOYMENT_SETTING}', 'on', true)`

/** lists of values that are sent without waiting */
const MAX_CONCURRENT_LISTS = 500

/**
 * A connection for the duration of one program. Statements that are sent together are executed in order, in one round
 * trip.
 */
export class Session {
  readonly #client: PoolClient
  readonly #prepared: PreparedStatements
  readonly #onStatement: () => void
  #isOpen = false
  /** error of a statement that was sent without waiting; it is the cause of later failures */
  #failed: unknown

  /** @param onStatement called for each statement */
  constructor(client: PoolClient, prepared: PreparedStatements, onStatement: () => void) {
    this.#client = client
    this.#prepared = prepared
    this.#onStatement = onStatement
  }

  /**
   * Begins a transaction together with the next statement, whose result shows whether that succeeded. The transaction
   * sees the rows of the current tenant scope.
   */
  begin(text: string): void {
    this.#isOpen = true
    this.sendAhead(text)
    const scope = getTenantScope()
    if (scope === 'deployment') this.sendAhead(this.#prepared.get(SET_DEPLOYMENT))
    else if (scope !== undefined) this.sendAhead(this.#prepared.get(SET_TENANT), [scope.tenant])
  }

  /**
   * Sends a statement without waiting for its result: if it fails, the next statement of its transaction fails with its
   * error.
   */
  sendAhead(statement: string | ServerStatement, values: readonly unknown[] = []): void {
    const named = typeof statement === 'string' ? { text: statement } : statement
    this.#client.query({ ...named, values: [...values] }).catch((error: unknown) => {
      this.#failed ??= error
    })
  }

  /** Runs a statement of a program. @returns the same as the driver of SQLite */
  async run(request: DatabaseStatement): Promise<unknown> {
    if (!('lists' in request)) {
      this.#onStatement()
      return await this.#sendOne(request, request.values)
    }
    const all: unknown[] = []
    for (let start = 0; start < request.lists.length; start += MAX_CONCURRENT_LISTS) {
      this.#onStatement()
      const sent = request.lists
        .slice(start, start + MAX_CONCURRENT_LISTS)
        .map((values) => this.#sendOne(request, values))
      // the first failure caused the others
      for (const outcome of await Promise.allSettled(sent)) {
        if (outcome.status === 'rejected') throw outcome.reason
        all.push(outcome.value)
      }
    }
    return all
  }

  /** Sends a statement. @returns its rows, or the count of changed rows */
  async #sendOne({ verb, sql, ...rest }: DatabaseStatement, values: readonly Bindable[]): Promise<unknown> {
    const isLists = 'cells' in rest && rest.cells === true
    const { rows, rowCount } = await this.#client
      .query({ ...this.#prepared.get(sql), values: [...toStorable(values)], ...(isLists ? { rowMode: 'array' } : {}) })
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
  rollback(): void {
    if (!this.#isOpen) {
      this.#client.release()
      return
    }
    this.#client.query('ROLLBACK').then(
      () => this.#client.release(),
      () => this.discard(),
    )
  }

  /** Releases a connection without an open transaction. */
  release(): void {
    this.#client.release()
  }

  /** Closes the connection. */
  discard(): void {
    this.#client.release(true)
  }
}
