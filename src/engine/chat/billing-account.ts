import type { ChatApp } from '../../contract/chat/apps.js'
import { account } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import type { BudgetAccount } from '../models/budget.js'
import { findSpaceOrDeleting, type SpaceRow } from '../rows/spaces.js'
import { tenantAccount } from '../spaces/tenant-account.js'
import type { Read } from '../storage/program.js'

/**
 * The account of an application's model calls outside of answers from a space: its first space with that space's daily
 * budget, or its tenant if it has no space.
 */
export function* billingAccount(context: EngineContext, tenant: string, app: ChatApp): Read<BudgetAccount> {
  const space = yield* firstLiving(tenant, app.knowledgeSpaceIds)
  return space === undefined ? tenantAccount(context, tenant) : account(context, space)
}

/** The first of some spaces that is not deleted. */
export function* firstLiving(tenant: string, ids: readonly string[]): Read<SpaceRow | undefined> {
  for (const id of ids) {
    const space = yield* findSpaceOrDeleting(tenant, id)
    if (space?.deleted_at === null) return space
  }
  return undefined
}
