import { describe } from 'vitest'
import { tenantsSuite } from '../engine/store/rows/tenants.suite.js'
import { BACKENDS } from './backends.js'

describe.each(BACKENDS)('the rows of tenants on %s', (_, open) => {
  tenantsSuite(open)
})
