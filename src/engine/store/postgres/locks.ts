import type { WriteOptions } from '../driver.js'

interface LockStatement {
  text: string
  values: readonly (number | string)[]
}

const LOCK_SPACE_BY_KEY = 'SELECT 1 FROM spaces WHERE key = $1 FOR NO KEY UPDATE'
const LOCK_SPACE_BY_ID = 'SELECT 1 FROM spaces WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE'
const LOCK_SPACE_OF_JOB = LOCK_SPACE_BY_KEY.replace('$1', '(SELECT space_key FROM jobs WHERE tenant = $1 AND id = $2)')
const LOCK_APP = 'SELECT 1 FROM chat_apps WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE'
const LOCK_NAME = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))'

/** The statements that take the locks of a write, in order. */
export function toLockStatements({ lock, lockName }: Pick<WriteOptions, 'lock' | 'lockName'>): LockStatement[] {
  const statements: LockStatement[] = []
  if (lock !== undefined) statements.push(toRowLock(lock))
  if (lockName !== undefined) statements.push({ text: LOCK_NAME, values: [lockName] })
  return statements
}

function toRowLock(lock: NonNullable<WriteOptions['lock']>): LockStatement {
  if (typeof lock === 'number') return { text: LOCK_SPACE_BY_KEY, values: [lock] }
  if ('appId' in lock) return { text: LOCK_APP, values: [lock.tenant, lock.appId] }
  if ('jobId' in lock) return { text: LOCK_SPACE_OF_JOB, values: [lock.tenant, lock.jobId] }
  return { text: LOCK_SPACE_BY_ID, values: [lock.tenant, lock.id] }
}
