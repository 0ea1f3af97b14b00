import type { PoolClient, QueryResult } from 'pg'
import { tenantScope } from '../../base/tenant-scope.js'
import type { Change, Query } from '../program.js'
import { storable } from '../storable.js'
import type { Named, Prepared } from './prepared.js'
import { DEPLOYMENT_SETTING, TENANT_SETTING } from './schema/isolation.js'

const FOR_TENANT = `SELECT set_config('${TENANT_SETTING}', ?, true)`
const FOR_DEPLOYMENT = `SELECT set_config('${DEPLOYMENT_SETTING}', 'on', true)`

/** One connection, for the length of one program. What is sent together is answered in order, in one round trip. */
export class Session {
  readonly #client: PoolClient
  readonly #prepared: Prepared
  readonly #counted: () => void
  #isOpen = false
  /** of what was sent without waiting: what comes behind it fails for it */
  #failed: unknown

  /** @param counted is told of each statement */
  constructor(client: PoolClient, prepared: Prepared, counted: () => void) {
    this.#client = client
    this.#prepared = prepared
    this.#counted = counted
  }

  /**
   * Begins a transaction with the next statement, whose answer says whether that went well. It sees the rows of whom this is
   * called for.
   */
  begin(text: string): void {
    this.#isOpen = true
    this.ahead(text)
    const scope = tenantScope()
    if (scope === 'deployment') this.ahead(this.#prepared.of(FOR_DEPLOYMENT))
    else if (scope !== undefined) this.ahead(this.#prepared.of(FOR_TENANT), [scope.tenant])
  }

  /** Sends a statement without waiting for its answer: where it fails, the next one of its transaction fails for it. */
  ahead(statement: string | Named, values: readonly unknown[] = []): void {
    const named = typeof statement === 'string' ? { text: statement } : statement
    this.#client.query({ ...named, values: [...values] }).catch((error: unknown) => {
      this.#failed ??= error
    })
  }

  /** Runs one statement of a program. @returns what the driver of SQLite gives */
  async run(asked: Query | Change): Promise<unknown> {
    this.#counted()
    const isLists = asked.verb === 'all' && asked.cells === true
    const { rows, rowCount } = await this.#client
      .query({
        ...this.#prepared.of(asked.sql),
        values: [...storable(asked.values)],
        ...(isLists ? { rowMode: 'array' } : {}),
      })
      .catch((error: unknown) => {
        throw this.#failed ?? error
      })
    if (asked.verb === 'get') return rows[0]
    return asked.verb === 'all' ? rows : { changes: rowCount ?? 0 }
  }

  /** @returns whether the transaction was committed: one in which a statement failed is rolled back instead */
  async commit(): Promise<boolean> {
    if (!this.#isOpen) return true
    this.#isOpen = false
    const { command }: QueryResult = await this.#client.query('COMMIT')
    return command === 'COMMIT'
  }

  /** Ends what nothing was changed in, and gives the connection back when that is done. */
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

  /** Gives back a connection that is as it was. */
  release(): void {
    this.#client.release()
  }

  /** Gives up the connection. */
  drop(): void {
    this.#client.release(true)
  }
}
