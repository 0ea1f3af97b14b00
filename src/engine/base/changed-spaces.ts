import type { Changes } from './changes.js'

/** Somebody who follows the changes of a tenant's spaces. */
export interface Follower {
  tenant: string
  /** ids of spaces that changed and were not told of yet */
  changed: Set<string>
  /** told when there is something to tell */
  news: Changes
}

/** Who follows the changes of spaces, in this process. It costs nothing while nobody does. */
export class ChangedSpaces {
  readonly #followers = new Set<Follower>()

  /** Documents or workspace files of a space are not what they were. */
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
