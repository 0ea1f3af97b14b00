import type { ChangeNotifier } from './change-notifier.js'

/** A listener for changes of a tenant's spaces. */
export interface TenantChangeListener {
  tenant: string
  /** ids of spaces that changed and were not reported yet */
  changed: Set<string>
  /** notified when `changed` has grown */
  notifier: ChangeNotifier
}

/** The listeners for changes of spaces in this process. Costs nothing without listeners. */
export class ChangedSpaces {
  readonly #listeners = new Set<TenantChangeListener>()

  /** Documents or workspace files of the space have changed. */
  report(tenant: string, spaceId: string): void {
    for (const listener of this.#listeners) {
      if (listener.tenant !== tenant) continue
      listener.changed.add(spaceId)
      listener.notifier.notify()
    }
  }

  add(listener: TenantChangeListener): void {
    this.#listeners.add(listener)
  }

  remove(listener: TenantChangeListener): void {
    this.#listeners.delete(listener)
  }
}
