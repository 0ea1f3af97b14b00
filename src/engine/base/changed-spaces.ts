import type { Changes } from './changes.js'

/** A listener for changes of a tenant's spaces. */
export interface Follower {
  tenant: string
  /** ids of spaces that changed and were not reported yet */
  changed: Set<string>
  /** notified when `changed` has grown */
  news: Changes
}

/** The listeners for changes of spaces in this process. Costs nothing without listeners. */
export class ChangedSpaces {
  readonly #followers = new Set<Follower>()

  /** Documents or workspace files of the space have changed. */
  changed(tenant: string, spaceId: string): void {
    for (const follower of this.#followers) {
      if (follower.tenant !== tenant) continue
      follower.changed.add(spaceId)
      follower.news.tell()
    }
  }

  add(follower: Follower): void {
    this.#followers.add(follower)
  }

  remove(follower: Follower): void {
    this.#followers.delete(follower)
  }
}
