import type { BundleEnd, BundleManifest } from '../../../contract/gateway/bundles.js'
import type { StoredPart } from '../../readers/index.js'

/** A valid value, or what is wrong with it. */
export type BundleCheckResult<T> = { value: T } | { problem: string }

/** Checks of bundle content against the contract. Injected, since the engine only knows the types of the contract. */
export interface BundleChecks {
  manifest(value: unknown): BundleCheckResult<BundleManifest>
  end(value: unknown): BundleCheckResult<BundleEnd>
  /**
   * Finds what is wrong with a cell beyond the format of its column: JSON that the contract describes, and texts with
   * limits.
   *
   * @param cell `table.column`
   * @param value parsed, where the cell is JSON
   */
  cell(cell: string, value: unknown): string | undefined
  /**
   * Finds what is wrong with an element of an artifact, a section without its children, or an item; undefined =
   * nothing.
   */
  part(part: StoredPart, value: unknown): string | undefined
  /** the cells that `cell` checks */
  readonly cells: ReadonlySet<string>
}
