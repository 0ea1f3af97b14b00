import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { Postgres } from '../../src/engine/store/postgres/postgres.js'
import { sql } from '../../src/engine/store/program.js'
import { parseDatabaseAddress } from '../../src/local/database-address.js'
import { addressOf, connect, createMigratedDatabase, hasServer } from '../helpers/postgres.js'
import { ROLE, SUPERUSER } from '../helpers/postgres-server.js'

const LOCKED = 'locked'

describe.skipIf(!hasServer)('a server with password authentication', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ks-password-'))
  const file = join(folder, 'password')
  let name: string

  beforeAll(async () => {
    name = await createMigratedDatabase()
    const admin = await connect(name, SUPERUSER)
    await admin.query(`CREATE ROLE ${LOCKED} LOGIN PASSWORD 'the right one'; GRANT ${ROLE} TO ${LOCKED}`)
    const rules = join(String(inject('postgres')), 'data', 'pg_hba.conf')
    writeFileSync(rules, `local all ${LOCKED} scram-sha-256\n${readFileSync(rules, 'utf8')}`)
    await admin.query('SELECT pg_reload_conf()')
    await admin.end()
  })

  afterAll(() => {
    rmSync(folder, { recursive: true })
  })

  const open = async (passwordFile?: string) =>
    await Postgres.open({
      address: parseDatabaseAddress(String(addressOf(name, undefined, LOCKED).hosts[0]), passwordFile),
      application: 'ks-test',
      clock: Date.now,
    })

  it('gets the password from a file for each connection', async () => {
    // The server applies the new rules a moment later.
    await expect.poll(async () => await refusal(open())).toMatch(/requires a password/)
    writeFileSync(file, 'a wrong one\n')
    expect(await refusal(open(file))).toMatch(/denies access: .*locked/)
    writeFileSync(file, 'the right one\n')
    const driver = await open(file)
    expect(await driver.read(sql.get('SELECT 1 one'))).toEqual({ one: 1 })
    await driver.close()
  })

  async function refusal(opening: Promise<Postgres>): Promise<string> {
    return await opening.then(
      async (driver) => {
        await driver.close()
        return 'opened'
      },
      (error: Error) => error.message,
    )
  }
})
