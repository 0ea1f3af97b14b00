import type { WatchState } from '../../contract/gateway/local-files.js'

/** The watching of local folders, as requests see it. */
export interface WatchControl {
  /** whether this daemon may look at files of its machine at all */
  allowed: boolean
  stateOf(watchId: string): WatchState | undefined
  /** The list of kept watches changed. @param accept the watch whose missing files may be taken as deleted */
  changed(accept?: string): void
  /** A file was seen to differ from its document. */
  stale(path: string): void
}

/** For a daemon that watches nothing. */
export function noWatching(allowed: boolean): WatchControl {
  return { allowed, stateOf: () => undefined, changed: () => {}, stale: () => {} }
}
