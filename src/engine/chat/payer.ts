import type { ChatApp } from '../../contract/chat/apps.js'
import { account } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import type { BudgetAccount } from '../models/budget.js'
import { findSpaceOrDeleting, type SpaceRow } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'

/**
 * Who pays for what an application asks its model beside the answers of a space: the first of its spaces, with its daily
 * budget. An application without one has none that would.
 */
export function* payerOf(context: EngineContext, tenant: string, app: ChatApp): Read<BudgetAccount | undefined> {
  const space = yield* firstLiving(tenant, app.knowledgeSpaceIds)
  return space === undefined ? undefined : account(context, space)
}

/** The first of some spaces that is there. */
export function* firstLiving(tenant: string, ids: readonly string[]): Read<SpaceRow | undefined> {
  for (const id of ids) {
    const space = yield* findSpaceOrDeleting(tenant, id)
    if (space?.deleted_at === null) return space
  }
  return undefined
}
