import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { removeFolder } from '../../../../bench/lib/removed-folder.js'
import { createBudgetStore } from '../../../../src/engine/library/spaces/stored-budget.js'
import { Database } from '../../../../src/engine/store/database.js'

const directory = mkdtempSync(join(tmpdir(), 'ks-budget-'))
const A = { tenant: 't', id: 'space-a' }
const B = { tenant: 't', id: 'space-b' }
afterEach(() => removeFolder(directory))

it('the use of models by a space is counted per day, can be refunded, and survives a restart', async () => {
  const path = join(directory, 'main.sqlite')
  const today = new Date().toISOString().slice(0, 10)
  const db = new Database(path, Date.now)
  const store = createBudgetStore(db)
  store.add(A, today, 'embeddingTokens', 500)
  store.add(A, today, 'embeddingTokens', -120)
  store.add(B, today, 'embeddingTokens', 7)
  store.add(A, today, 'llmTokens', -3)
  await db.close()
  const again = new Database(path, Date.now)
  const reread = createBudgetStore(again)
  expect(await reread.used(A, today, 'embeddingTokens')).toBe(380)
  expect(await reread.used(B, today, 'embeddingTokens')).toBe(7)
  expect(await reread.used(A, today, 'llmTokens')).toBe(0)
  expect(await reread.used(A, '2001-01-01', 'embeddingTokens')).toBe(0)
  // The same id of another tenant is another account.
  expect(await reread.used({ tenant: 'u', id: 'space-a' }, today, 'embeddingTokens')).toBe(0)
  await again.close()
})
