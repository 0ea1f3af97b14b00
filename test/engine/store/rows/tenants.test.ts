import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { Database } from '../../../../src/engine/store/database.js'
import { tenantsSuite } from './tenants.suite.js'

tenantsSuite(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ks-tenants-'))
  const driver = new Database(join(folder, 'main.sqlite'), Date.now)
  return {
    driver,
    async close() {
      await driver.close()
      removeFolder(folder)
    },
  }
})
