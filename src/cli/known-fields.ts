import { usageError } from './cli-error.js'
import { getValueAt, listLeafPaths, type OutputColumn } from './columns.js'
import type { OutputFields } from './json-output/fields.js'

/** Loads the fields that a command can print. @param sample an item, if there is one */
export type LoadOutputFields = (sample: unknown) => Promise<OutputFields>

/** Checks `--fields`: a field that items lack is null, a field that no item can have is an error. */
export class FieldCheck {
  readonly #unknown: Set<string>
  readonly #known: Set<string>
  readonly #load: LoadOutputFields | undefined
  #sample: unknown

  constructor(
    selected: readonly string[] | undefined,
    columns: readonly OutputColumn[],
    load: LoadOutputFields | undefined,
  ) {
    this.#known = new Set(columns.map(({ field }) => field))
    this.#unknown = new Set(selected?.filter((field) => !this.#known.has(field)))
    this.#load = load
  }

  /** Whether every selected field is known. */
  get isSettled(): boolean {
    return this.#unknown.size === 0
  }

  /** Adds the fields of an item. */
  addItem(item: unknown): void {
    this.#sample ??= item
    for (const field of listLeafPaths(item)) this.#known.add(field)
    for (const field of this.#unknown)
      if (this.#known.has(field) || getValueAt(item, field) !== undefined) this.#unknown.delete(field)
  }

  /** Whether fields are unknown without the schema. @throws CliError exit 2 if there is no schema to read */
  mustLoad(): boolean {
    if (this.#load === undefined) this.throwUnknown()
    return !this.isSettled
  }

  /** Looks the other fields up in the schema of the output. @throws CliError exit 2 for a field that no item can have */
  async settle(): Promise<void> {
    if (this.isSettled) return
    const fields = await this.#load?.(this.#sample)
    for (const field of this.#unknown) if (fields?.has(field) === true) this.#unknown.delete(field)
    for (const name of fields?.names ?? []) this.#known.add(name)
    this.throwUnknown()
  }

  /** Passes items on as soon as every selected field is known. @throws CliError exit 2 */
  async *filter<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
    const pending: T[] = []
    for await (const item of items) {
      if (!this.isSettled) this.addItem(item)
      if (!this.isSettled && this.#load !== undefined) await this.settle()
      pending.push(item)
      if (this.isSettled) yield* pending.splice(0)
    }
    // An empty list has no fields; without the schema, they are unknown.
    if (pending.length > 0 || this.#load !== undefined) await this.settle()
  }

  private throwUnknown(): void {
    const [field] = this.#unknown
    if (field === undefined) return
    throw usageError(`unknown field ${JSON.stringify(field)}`, `fields are ${[...this.#known].join(', ')}`)
  }
}
