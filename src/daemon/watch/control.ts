import type { WatchState } from '../../contract/gateway/local-files.js'

/** Control of the watched local folders, for request handlers. */
export interface WatchControl {
  /** Whether this daemon may read files of its machine at all. */
  allowed: boolean
  stateOf(watchId: string): WatchState | undefined
  /**
   * Called when the list of stored watches changed.
   * @param accept the watch whose missing files may be treated as deleted
   */
  changed(accept?: string): void
  /** Called when a file differs from its document. */
  stale(path: string): void
}

/** The control of a daemon that watches nothing. */
export function createDisabledWatchControl({ allowed }: Pick<WatchControl, 'allowed'>): WatchControl {
  return { allowed, stateOf: () => undefined, changed: () => {}, stale: () => {} }
}
