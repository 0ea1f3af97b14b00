import type { ChatApp } from '../../contract/chat/apps.js'
import { account } from '../compile/embeddings.js'
import type { EngineContext } from '../context.js'
import type { BudgetAccount } from '../models/budget.js'
import { findSpaceOrDeleting } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'

/**
 * Who pays for what an application asks its model beside the answers of a space: the first of its spaces, with its daily
 * budget. An application without one has none that would.
 */
export function* payerOf(context: EngineContext, tenant: string, app: ChatApp): Read<BudgetAccount | undefined> {
  for (const id of app.knowledgeSpaceIds) {
    const space = yield* findSpaceOrDeleting(tenant, id)
    if (space?.deleted_at === null) return account(context, space)
  }
  return undefined
}
