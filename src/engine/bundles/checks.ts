import type { BundleEnd, BundleManifest } from '../../contract/gateway/bundles.js'
import type { StoredPart } from '../parse/stored.js'

/** A value that has its shape, or what is wrong with it. */
export type Checked<T> = { value: T } | { problem: string }

/** What the contract says of what stands in a bundle. It is handed in: the engine knows the contract's types alone. */
export interface BundleChecks {
  manifest(value: unknown): Checked<BundleManifest>
  end(value: unknown): Checked<BundleEnd>
  /**
   * What is wrong with a cell beyond the form of its column, if anything: JSON that the contract describes, and texts that it
   * bounds.
   *
   * @param cell `table.column`
   * @param value of JSON, what it says
   */
  cell(cell: string, value: unknown): string | undefined
  /** What is wrong with an element of an artifact, a section without its children, or an item; undefined = nothing. */
  part(part: StoredPart, value: unknown): string | undefined
  /** the cells that `cell` knows */
  readonly cells: ReadonlySet<string>
}
