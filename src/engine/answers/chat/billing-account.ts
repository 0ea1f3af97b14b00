import type { ChatApp } from '../../../contract/chat/apps.js'
import { createTenantAccount, type EngineContext, getSpaceAccount } from '../../library/index.js'
import type { BudgetAccount } from '../../models/index.js'
import type { Read } from '../../store/program.js'
import { findSpaceOrDeleting, type SpaceRow } from '../../store/rows/spaces.js'

/**
 * The account of an application's model calls outside of answers from a space: its first space with that space's daily
 * budget, or its tenant if it has no space.
 */
export function* getBillingAccount(context: EngineContext, tenant: string, app: ChatApp): Read<BudgetAccount> {
  const space = yield* findFirstLivingSpace(tenant, app.knowledgeSpaceIds)
  return space === undefined ? createTenantAccount(context, tenant) : getSpaceAccount(context, space)
}

/** The first of some spaces that is not deleted. */
export function* findFirstLivingSpace(tenant: string, ids: readonly string[]): Read<SpaceRow | undefined> {
  for (const id of ids) {
    const space = yield* findSpaceOrDeleting(tenant, id)
    if (space?.deleted_at === null) return space
  }
  return undefined
}
