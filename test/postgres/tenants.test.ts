import { describe } from 'vitest'
import { tenantsSuite } from '../engine/rows/tenants.suite.js'
import { BACKENDS } from './backends.js'

describe.each(BACKENDS)('on %s', (_, open) => {
  tenantsSuite(open)
})
