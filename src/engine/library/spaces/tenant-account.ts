import type { BudgetAccount } from '../../models/index.js'
import type { EngineContext } from '../context.js'

/** No space has this id: ids of spaces are UUIDs. */
const TENANT_ACCOUNT = 'tenant'

/** The account of a tenant's model calls without a space, within the `quotas` of the deployment. */
export function createTenantAccount({ options }: Pick<EngineContext, 'options'>, tenant: string): BudgetAccount {
  return { tenant, id: TENANT_ACCOUNT, limits: () => options.quotas }
}
