import { usageError } from './cli-error.js'
import { getValueAt, listLeafPaths, type OutputColumn } from './columns.js'
import type { ResponseFields } from './response-fields.js'

/** Loads the fields of the responses that a command has received. */
export type LoadResponseFields = () => Promise<ResponseFields>

/** The fields that a command declares. */
export interface CommandFields {
  columns: readonly OutputColumn[]
  /** Fields that items may have besides the columns. */
  fields?: readonly string[] | undefined
}

/** Checks `--fields`: a field that items lack is null, a field that no item can have is an error. */
export class FieldCheck {
  readonly #unknown: Set<string>
  readonly #known: Set<string>
  readonly #load: LoadResponseFields | undefined

  constructor(selected: readonly string[] | undefined, declared: CommandFields, load: LoadResponseFields | undefined) {
    this.#known = new Set([...declared.columns.map(({ field }) => field), ...(declared.fields ?? [])])
    this.#unknown = new Set(selected?.filter((field) => !this.#known.has(field)))
    this.#load = load
  }

  /** Whether every selected field is known. */
  get isSettled(): boolean {
    return this.#unknown.size === 0
  }

  /** Adds the fields of an item. */
  addItem(item: unknown): void {
    for (const field of listLeafPaths(item)) this.#known.add(field)
    for (const field of this.#unknown)
      if (this.#known.has(field) || getValueAt(item, field) !== undefined) this.#unknown.delete(field)
  }

  /** Whether fields are unknown without the contract. @throws CliError exit 2 if there is no contract to read */
  mustLoad(): boolean {
    if (this.#load === undefined) this.throwUnknown()
    return !this.isSettled
  }

  /** Looks the other fields up in the contract. @throws CliError exit 2 for a field that no item can have */
  async settle(): Promise<void> {
    if (this.isSettled) return
    const responses = await this.#load?.()
    for (const field of this.#unknown) if (responses?.has(field) === true) this.#unknown.delete(field)
    for (const name of responses?.names ?? []) this.#known.add(name)
    this.throwUnknown()
  }

  /** Passes items on as soon as every selected field is known. @throws CliError exit 2 */
  async *filter<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
    const held: T[] = []
    for await (const item of items) {
      if (!this.isSettled) this.addItem(item)
      if (!this.isSettled && this.#load !== undefined) await this.settle()
      held.push(item)
      if (this.isSettled) yield* held.splice(0)
    }
    // An empty list has no fields; without the contract, they are unknown.
    if (held.length > 0 || this.#load !== undefined) await this.settle()
  }

  private throwUnknown(): void {
    const [field] = this.#unknown
    if (field === undefined) return
    throw usageError(`unknown field ${JSON.stringify(field)}`, `fields are ${[...this.#known].join(', ')}`)
  }
}
